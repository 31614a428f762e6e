# Published weights take the place of corpus, tokenizer and pre-training.


rule import:
    input:
        weights=[] if WITHOUT_DATA else plan.weight_files(config),
        encoder=ENCODER,
        merges=MERGES,
    output:
        checkpoint=f"{RESULTS}/pretrain/transformer/update-{UPDATES[-1]}.safetensors",
        facts=f"{RESULTS}/pretrain/transformer/update-{UPDATES[-1]}.json",
    log:
        f"{RESULTS}/logs/import.log",
    benchmark:
        f"{RESULTS}/benchmarks/import.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        format=config["experiment"]["pretrained"]["format"],
        folder=lambda wildcards, input: str(Path(input.weights[0]).parent),
        tokenizer=subpath(input.encoder, parent=True),
        updates=UPDATES[-1],
        settings=as_json(settings.pretrained(config)),
        code=code.digest("gpt1.convert"),
    message:
        "import: published weights as the pre-trained transformer"
    shell:
        '"$PYTHON" -m gpt1.convert import --format {params.format} --from {params.folder:q}'
        " --tokenizer {params.tokenizer:q} --settings {params.settings:q}"
        " --updates {params.updates} --code {params.code} --out {output.checkpoint}"
        " 2>&1 | tee {log}"
