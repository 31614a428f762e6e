# What language models are scored on along pre-training: the zero-shot tasks, and cloze items, which
# show what they have learnt by their choice between continuations.

if grid.zero_shot.tasks:

    rule zero_shot:
        input:
            vocabulary,
            [MODEL.facts("<results>", update) for update in grid.updates],
            encoded=expand("<results>/encoded/{task}", task=grid.zero_shot.tasks),
            checkpoints=[MODEL.checkpoint("<results>", update) for update in grid.updates],
        output:
            [
                MODEL.zero_shot("<results>", task, update)
                for task in grid.zero_shot.tasks
                for update in grid.updates
            ],
            [MODEL.zero_shot_rows("<results>", task) for task in grid.zero_shot.tasks],
        log:
            "<results>/logs/zero_shot/{arch}/seed-{seed}.log",
        benchmark:
            "<results>/benchmarks/zero_shot/{arch}/seed-{seed}.tsv"
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            results=subpath(output[0], ancestor=5),
            tokenizer=tokenizer_folder,
            settings=settings_json(lambda config, w: config.zero_shot(w.arch)),
            code=code.digest("gpt1.zero_shot"),
        shell:
            "python -m gpt1 zero_shot {wildcards.arch} --encoded {input.encoded}"
            " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
            ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
            " --results {params.results:q} &> {log}"


if paths.cloze_file(cfg):

    for number, (updates, names) in enumerate(plan.by_updates().items()):

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
                MODEL.cloze_rows("<results>{home}"),
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
                cloze=lambda w: paths.cloze_file(plan.reading(plan.at(variant_of(w), "tasks"))),
                tokenizer=tokenizer_folder,
                settings=settings_json(lambda config, w: config.model(w.arch)),
                contents=contents(vocabulary, cloze_items),
                code=code.digest("gpt1.cloze"),
            shell:
                "python -m gpt1 cloze {wildcards.arch} --items {params.cloze:q}"
                " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
                ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
                " --out {params.out:q} &> {log}"
