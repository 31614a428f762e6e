# Which reported examples the language model was trained on: one job, which reads the corpus once
# for all tasks.


rule contamination:
    input:
        documents="<results>/corpus/documents",
        facts="<results>/corpus/documents.json",
        examples=expand("<results>/examples/{task}", task=grid.examples),
    output:
        expand("<results>/contamination/{task}.json", task=grid.examples),
    log:
        "<results>/logs/contamination.log",
    benchmark:
        "<results>/benchmarks/contamination.tsv"
    resources:
        **data_job(8000),
    params:
        tasks=grid.examples,
        examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
        out=subpath(output[0], parent=True),
        code=code.digest("gpt1.contamination"),
    shell:
        "python -m gpt1 contamination {params.tasks}"
        " --documents {input.documents} --examples {params.examples:q} --out {params.out:q}"
        " &> {log}"
