# What each language model has learnt, along pre-training: continuations to choose from.


rule probes:
    input:
        vocabulary,
        its_probes(raw_probes),
        [MODEL.facts("<results>", update) for update in grid.updates],
        checkpoints=[MODEL.checkpoint("<results>", update) for update in grid.updates],
    output:
        [MODEL.probes("<results>", update) for update in grid.updates],
    log:
        "<results>/logs/probes/{arch}/seed-{seed}.log",
    benchmark:
        "<results>/benchmarks/probes/{arch}/seed-{seed}.tsv"
    threads: cfg.runtime.finetune_threads
    resources:
        **training_job("finetune"),
    params:
        out=subpath(output[0], parent=True),
        probes=its_probes(paths.probes_file),
        tokenizer=its_tokenizer,
        settings=given_as(lambda config, w: config.model(w.arch)),
        code=code.digest("gpt1.probes"),
    shell:
        "python -m gpt1.probes {wildcards.arch} --probes {params.probes:q}"
        " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
        ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
        " --out {params.out:q} &> {log}"


use rule probes as probes_shuffled with:
    input:
        vocabulary,
        its_probes(raw_probes),
        [CONTROL.facts("<results>", update) for update in grid.updates],
        checkpoints=[CONTROL.checkpoint("<results>", update) for update in grid.updates],
    output:
        [CONTROL.probes("<results>", update) for update in grid.updates],
    log:
        "<results>/logs/probes_shuffled/{arch}-{corpus}/seed-{seed}.log",
    benchmark:
        "<results>/benchmarks/probes_shuffled/{arch}-{corpus}/seed-{seed}.tsv"
