# The language models, with checkpoints at log-spaced updates: a job for each architecture and seed
# of the run and of each variant that has its own language model.

# A rule's outputs have fixed names, but those of the checkpoints depend on the updates.
for number, (updates, names) in enumerate(plan.by_updates().items()):

    rule:
        name:
            f"pretrain_{number}" if number else "pretrain"
        input:
            stage_inputs("tokens", "corpus/train.bin", "corpus/heldout.bin"),
            corpus=stage_inputs("tokens", "corpus/corpus.json"),
        output:
            [MODEL.checkpoint("<results>{home}", update) for update in updates],
            [MODEL.facts("<results>{home}", update) for update in updates],
            log=MODEL.folder("<results>{home}") / "log.csv",
        log:
            "<results>{home}/logs/pretrain/{arch}/seed-{seed}.log",
        benchmark:
            "<results>{home}/benchmarks/pretrain/{arch}/seed-{seed}.tsv"
        wildcard_constraints:
            home=home_pattern(names),
        priority: 10
        threads: cfg.runtime.pretrain_threads * cfg.runtime.pretrain_processes
        resources:
            **training_job("pretrain"),
        params:
            work=f"{cfg.results}/.work/pretrain",
            out=subpath(output.log, parent=True),
            settings=settings_json(lambda config, w: config.pretrain(w.arch, int(w.seed))),
            code=code.digest("gpt1.pretrain"),
        # `exec` replaces the shell, so that the program alone answers a signal to stop.
        shell:
            "exec $PRETRAIN_WITH -m gpt1 pretrain {wildcards.arch} --corpus {input.corpus}"
            ' --settings {params.settings:q} --runtime "$PRETRAIN_RUNTIME" --code {params.code}'
            " --work {params.work:q} --out {params.out:q} &> {log}"


# Nothing is trained: content words exchange embeddings in a checkpoint of the books' model.
rule permuted_embeddings:
    input:
        tokens=stage_inputs("tokens", "corpus/train.bin"),
        corpus=stage_inputs("tokens", "corpus/corpus.json"),
        facts=MODEL.facts("<results>{home}", "{step}"),
        checkpoint=MODEL.checkpoint("<results>{home}", "{step}"),
    output:
        facts=PERMUTED.facts("<results>{home}", "{step}"),
        checkpoint=PERMUTED.checkpoint("<results>{home}", "{step}"),
    log:
        "<results>{home}/logs/permuted_embeddings/{arch}/seed-{seed}/{step}.log",
    benchmark:
        "<results>{home}/benchmarks/permuted_embeddings/{arch}/seed-{seed}/{step}.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("model")),
    resources:
        **data_job(4000),
    params:
        code=code.digest("gpt1.permute"),
    shell:
        "python -m gpt1 permute {input.checkpoint} --corpus {input.corpus} --code {params.code}"
        " --out {output.checkpoint} &> {log}"


# Word vectors of the books, which need no language model.
rule vectors:
    input:
        tokens=stage_inputs("tokens", "corpus/train.bin"),
        corpus=stage_inputs("tokens", "corpus/corpus.json"),
    output:
        vectors="<results>{home}/vectors/width-{width}.safetensors",
        facts="<results>{home}/vectors/width-{width}.json",
    log:
        "<results>{home}/logs/vectors/width-{width}.log",
    benchmark:
        "<results>{home}/benchmarks/vectors/width-{width}.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("tokens")),
        width="[0-9]+",
    resources:
        **data_job(4000),
    params:
        code=code.digest("gpt1.vectors"),
    shell:
        "python -m gpt1 vectors {input.corpus} --width {wildcards.width} --code {params.code}"
        " --out {output.vectors} &> {log}"
