# Published weights take the place of corpus, tokenizer and pre-training.


rule import:
    input:
        vocabulary,
        weights=lambda wildcards: given(paths.weight_files(cfg)),
    output:
        checkpoint=grid.models()[0].checkpoint("<results>", grid.updates[-1]),
        facts=grid.models()[0].facts("<results>", grid.updates[-1]),
    log:
        "<results>/logs/import.log",
    benchmark:
        "<results>/benchmarks/import.tsv"
    priority: 10
    resources:
        mem_mb=8000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        format=cfg.experiment.pretrained.format,
        folder=os.path.dirname(paths.weight_files(cfg)[0]),
        tokenizer=TOKENIZER,
        updates=grid.updates[-1],
        settings=settings(lambda: cfg.model("transformer")),
        code=code.digest("gpt1.convert"),
    message:
        "import: published weights as the pre-trained transformer"
    shell:
        "python -m gpt1.convert import --format {params.format} --from {params.folder:q}"
        " --tokenizer {params.tokenizer:q} --settings {params.settings:q}"
        " --updates {params.updates} --code {params.code} --out {output.checkpoint}"
        " &> {log}"
