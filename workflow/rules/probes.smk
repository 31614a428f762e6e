# What each language model has learnt, along pre-training: continuations to choose from.

for number, (updates, names) in enumerate(lines.by_updates().items()):

    rule:
        name:
            f"probes_{number}" if number else "probes"
        input:
            vocabulary,
            probes_from_config(raw_probes),
            [MODEL.facts("<results>{home}", update) for update in updates],
            checkpoints=[MODEL.checkpoint("<results>{home}", update) for update in updates],
        output:
            [MODEL.probes("<results>{home}", update) for update in updates],
        log:
            "<results>{home}/logs/probes/{arch}/seed-{seed}.log",
        benchmark:
            "<results>{home}/benchmarks/probes/{arch}/seed-{seed}.tsv"
        wildcard_constraints:
            home=home_pattern(names),
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            out=subpath(output[0], parent=True),
            probes=probes_from_config(paths.probes_file),
            tokenizer=tokenizer_folder,
            settings=settings_json(lambda config, w: config.model(w.arch)),
            code=code.digest("gpt1.probes"),
        shell:
            "python -m gpt1.probes {wildcards.arch} --probes {params.probes:q}"
            " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
            ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
            " --out {params.out:q} &> {log}"
