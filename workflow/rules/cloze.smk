# What each language model has learnt along pre-training, by its choice between continuations.

cloze_items = cloze_from_config(
    lambda config: user_files("experiment.cloze", paths.raw_cloze(config))
)

for number, (updates, names) in enumerate(lines.by_updates().items()):

    rule:
        name:
            f"cloze_{number}" if number else "cloze"
        input:
            vocabulary,
            cloze_items,
            [MODEL.facts("<results>{home}", update) for update in updates],
            checkpoints=[MODEL.checkpoint("<results>{home}", update) for update in updates],
        output:
            [MODEL.cloze("<results>{home}", update) for update in updates],
        log:
            "<results>{home}/logs/cloze/{arch}/seed-{seed}.log",
        benchmark:
            "<results>{home}/benchmarks/cloze/{arch}/seed-{seed}.tsv"
        wildcard_constraints:
            home=home_pattern(names),
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            out=subpath(output[0], parent=True),
            cloze=cloze_from_config(paths.cloze_file),
            tokenizer=tokenizer_folder,
            settings=settings_json(lambda config, w: config.model(w.arch)),
            contents=contents(vocabulary, cloze_items),
            code=code.digest("gpt1.cloze"),
        shell:
            "python -m gpt1 cloze {wildcards.arch} --items {params.cloze:q}"
            " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
            ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
            " --out {params.out:q} &> {log}"
