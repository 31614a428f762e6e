# Published weights take the place of corpus, tokenizer and pre-training.
published = paths.named_files(cfg)["experiment.pretrained.path"]
weights = lambda _: user_files("experiment.pretrained.path", published)


rule import:
    input:
        vocabulary,
        weights=weights,
    output:
        checkpoint=grid.models()[0].checkpoint("<results>", grid.updates[-1]),
        facts=grid.models()[0].facts("<results>", grid.updates[-1]),
    log:
        "<results>/logs/import.log",
    benchmark:
        "<results>/benchmarks/import.tsv"
    priority: 10
    resources:
        **data_job(8000),
    params:
        folder=os.path.dirname(published[0]),
        tokenizer=tokenizer_folder,
        updates=grid.updates[-1],
        settings=settings_json(lambda config, _: config.model("transformer")),
        contents=contents(vocabulary, weights),
        code=code.digest("gpt1.weights.published"),
    shell:
        "python -m gpt1 convert import --from {params.folder:q}"
        " --tokenizer {params.tokenizer:q} --settings {params.settings:q}"
        " --updates {params.updates} --code {params.code} --out {output.checkpoint}"
        " &> {log}"
