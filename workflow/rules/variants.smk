# What the studies' overlays of the config lead to: everything from the world to the cells, as in a
# run. Each file lies below the variant of the keys that it depends on (workflow/overlay.py), and a
# job reads what the run or another variant has where these are the same.
VARIANT = "<results>/variants/{variant}"
PLANTED_TASKS = studies.planted_tasks(cfg)
with_planted = [name for name in variants.names("books") if "world.planted-" in name]
with_others = [name for name in variants.names("world") if name not in with_planted]


if cfg.experiment.world:

    use rule world as world_variant with:
        output:
            f"{VARIANT}/world/manifest.json",
        log:
            f"{VARIANT}/logs/world.log",
        benchmark:
            f"{VARIANT}/benchmarks/world.tsv"
        wildcard_constraints:
            variant=one_of(with_others),
        params:
            out=subpath(output[0], parent=True),
            settings=given_as(lambda config, _: config.world()),
            code=code.digest("tasks.world"),
        message:
            "world of {wildcards.variant}: write its books, and its tasks"

    rule world_planted:
        input:
            lambda wildcards: below(wildcards.variant, "tokenizer", "world/manifest.json"),
            documents=of("tokenizer", "corpus/documents.json"),
            examples=lambda wildcards: [
                below(wildcards.variant, "tasks", f"examples/{task}") for task in PLANTED_TASKS
            ],
        output:
            f"{VARIANT}/world/manifest.json",
        log:
            f"{VARIANT}/logs/world.log",
        benchmark:
            f"{VARIANT}/benchmarks/world.tsv"
        wildcard_constraints:
            variant=one_of(with_planted),
        priority: 10
        resources:
            mem_mb=2000,
            runtime=per_attempt(cfg.runtime.minutes, "data"),
        params:
            tasks=PLANTED_TASKS,
            counts=its(lambda config, _: sorted(config.experiment.world.planted)),
            folder=lambda wildcards, input: os.path.join(os.path.dirname(input[0]), "books"),
            examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
            out=subpath(output[0], parent=True),
            code=code.digest("tasks.world.planting"),
        message:
            "world of {wildcards.variant}: plant reported rows into the books"
        shell:
            "python -m tasks.world.planting {params.tasks} --counts {params.counts}"
            " --books {params.folder:q} --documents {input.documents}"
            " --examples {params.examples:q} --out {params.out:q} &> {log}"


use rule examples as examples_variant with:
    input:
        its(lambda config, wildcards: paths.raw_files(config, wildcards.task)),
    output:
        examples=directory(f"{VARIANT}/examples/{{task}}"),
        facts=f"{VARIANT}/examples/{{task}}.json",
    log:
        f"{VARIANT}/logs/examples/{{task}}.log",
    benchmark:
        f"{VARIANT}/benchmarks/examples/{{task}}.tsv"
    wildcard_constraints:
        variant=one_of(variants.names("tasks")),
    params:
        folder=its(lambda config, wildcards: paths.data_sets(config)[wildcards.task].folder),
        settings=given_as(lambda config, wildcards: config.prepare(wildcards.task)),
        code=code.digest("tasks.prepare"),


use rule baselines as baselines_variant with:
    input:
        f"{VARIANT}/examples/{{task}}",
    output:
        f"{VARIANT}/baselines/{{task}}.json",
    log:
        f"{VARIANT}/logs/baselines/{{task}}.log",
    benchmark:
        f"{VARIANT}/benchmarks/baselines/{{task}}.tsv"
    wildcard_constraints:
        variant=one_of(variants.names("tasks")),


use rule encode as encode_variant with:
    input:
        lambda wildcards: tokenizer_of(wildcards.variant),
        examples=of("tasks", "examples/{task}"),
    output:
        encoded=directory(f"{VARIANT}/encoded/{{task}}"),
        facts=f"{VARIANT}/encoded/{{task}}.json",
    log:
        f"{VARIANT}/logs/encode/{{task}}.log",
    benchmark:
        f"{VARIANT}/benchmarks/encode/{{task}}.tsv"
    wildcard_constraints:
        variant=one_of(variants.names("encoded")),
    params:
        tokenizer=its_tokenizer,
        code=code.digest("gpt1.encode"),


if grid.has_corpus:

    use rule documents as documents_variant with:
        input:
            its(lambda config, _: paths.raw_files(config, "corpus")),
        output:
            documents=directory(f"{VARIANT}/corpus/documents"),
            facts=f"{VARIANT}/corpus/documents.json",
            words=f"{VARIANT}/corpus/words.tsv",
        log:
            f"{VARIANT}/logs/documents.log",
        benchmark:
            f"{VARIANT}/benchmarks/documents.tsv"
        wildcard_constraints:
            variant=one_of(variants.names("books")),
        priority: 10  # not inherited
        params:
            folder=its(lambda config, _: paths.data_sets(config)["corpus"].folder),
            settings=given_as(lambda config, _: config.corpus()),
            code=code.digest("gpt1.corpus"),

    rule tokenizer_variant:
        input:
            documents=of("books", "corpus/documents"),
            facts=of("books", "corpus/documents.json"),
            words=of("books", "corpus/words.tsv"),
        output:
            [f"{VARIANT}/tokenizer/{name}" for name in FILES],
        log:
            f"{VARIANT}/logs/tokenizer.log",
        benchmark:
            f"{VARIANT}/benchmarks/tokenizer.tsv"
        wildcard_constraints:
            variant=one_of(variants.names("tokenizer")),
        priority: 10
        resources:
            mem_mb=8000,
            runtime=per_attempt(cfg.runtime.minutes, "data"),
        params:
            out=subpath(output[0], parent=True),
            merges=its(lambda config, _: config.experiment.tokenizer.merges),
            code=code.digest("gpt1.text.tokenizer"),
        message:
            "tokenizer of {wildcards.variant}: learn {params.merges} BPE merges"
        shell:
            "python -m gpt1.text.tokenizer train --documents {input.documents}"
            " --merges {params.merges} --out {params.out:q} &> {log}"

    use rule tokens as tokens_variant with:
        input:
            lambda wildcards: tokenizer_of(wildcards.variant),
            documents=of("books", "corpus/documents"),
            facts=of("books", "corpus/documents.json"),
        output:
            facts=f"{VARIANT}/corpus/corpus.json",
            tokens=[f"{VARIANT}/corpus/train.bin", f"{VARIANT}/corpus/heldout.bin"],
        log:
            f"{VARIANT}/logs/tokens.log",
        benchmark:
            f"{VARIANT}/benchmarks/tokens.tsv"
        wildcard_constraints:
            variant=one_of(variants.names("tokens")),
        priority: 10
        params:
            out=subpath(output.facts, parent=True),
            tokenizer=its_tokenizer,
            shuffled="",
            code=code.digest("gpt1.corpus"),

    # The names of a rule's outputs are fixed, and those of the checkpoints differ with the updates.
    for number, (updates, names) in enumerate(variants.by_updates().items(), 1):

        rule:
            name:
                f"pretrain_variant_{number}"
            input:
                of("tokens", "corpus/train.bin", "corpus/heldout.bin"),
                corpus=of("tokens", "corpus/corpus.json"),
            output:
                checkpoints=[
                    path("<results>", update)
                    for path in (OWN_MODEL.checkpoint, OWN_MODEL.facts)
                    for update in updates
                ],
                log=OWN_MODEL.folder("<results>") / "log.csv",
            log:
                f"{VARIANT}/logs/pretrain/{{arch}}/{{seed}}.log",
            benchmark:
                f"{VARIANT}/benchmarks/pretrain/{{arch}}/{{seed}}.tsv"
            wildcard_constraints:
                variant=one_of(names),
            priority: 10
            threads: cfg.runtime.pretrain_threads * cfg.runtime.pretrain_processes
            resources:
                mem_mb=per_attempt(cfg.runtime.mem_mb, "pretrain"),
                runtime=per_attempt(cfg.runtime.minutes, "pretrain"),
                gpu=GPU * cfg.runtime.pretrain_processes,
                gpu_model=GPU_MODEL,
            params:
                work=f"{cfg.results}/.work/pretrain",
                out=subpath(output.log, parent=True),
                settings=given_as(lambda config, w: config.pretrain(w.arch, int(w.seed))),
                code=code.digest("gpt1.pretrain"),
            message:
                "pretrain {wildcards.arch} of {wildcards.variant}, seed {wildcards.seed}"
            shell:
                "exec $PRETRAIN_WITH -m gpt1.pretrain {wildcards.arch} --corpus {input.corpus}"
                ' --settings {params.settings:q} --runtime "$PRETRAIN_RUNTIME" --code {params.code}'
                " --work {params.work:q} --out {params.out:q} &> {log}"


if paths.probes_file(cfg):

    use rule probes as probes_variant with:
        input:
            lambda wildcards: tokenizer_of(wildcards.variant),
            its(
                lambda config, w: paths.raw_probes(
                    variants.reading(variants.at(w.variant, "tasks"))
                )
            ),
            OWN_MODEL.facts("<results>", "{step}"),
            checkpoints=OWN_MODEL.checkpoint("<results>", "{step}"),
        output:
            OWN_MODEL.probes("<results>", "{step}"),
        log:
            f"{VARIANT}/logs/probes/{{arch}}/{{seed}}/{{step}}.log",
        benchmark:
            f"{VARIANT}/benchmarks/probes/{{arch}}/{{seed}}/{{step}}.tsv"
        wildcard_constraints:
            variant=one_of(variants.names("model")),
        params:
            out=subpath(output[0], parent=True),
            probes=its(
                lambda config, w: paths.probes_file(
                    variants.reading(variants.at(w.variant, "tasks"))
                )
            ),
            tokenizer=its_tokenizer,
            settings=given_as(lambda config, w: config.model(w.arch)),
            code=code.digest("gpt1.probes"),
        message:
            "probes of {wildcards.variant}, {wildcards.arch}, seed {wildcards.seed}"


for number, (tasks, names) in enumerate(variants.by_tasks().items()):
    own = [Cell("{arch}", task, "{aux}", "{layers}", variant="{variant}") for task in tasks]
    stem = "{arch}/{aux}/{layers}" if number else "{arch}/{task}/{aux}/{layers}"

    rule:
        name:
            f"finetune_variant_{number}" if number else "finetune_variant"
        input:
            lambda wildcards: tokenizer_of(wildcards.variant),
            encoded=of("encoded", *(f"encoded/{task}" for task in tasks)),
            baselines=of("tasks", *(f"baselines/{task}.json" for task in tasks)),
            checkpoints=lambda wildcards: started_from(cell_of(wildcards, ""), "checkpoint"),
            facts=lambda wildcards: started_from(cell_of(wildcards, ""), "facts"),
        output:
            cells=[cell.path("<results>") for cell in own],
            predictions=[cell.predictions("<results>") for cell in own],
        log:
            f"{VARIANT}/logs/finetune/{stem}.log",
        benchmark:
            f"{VARIANT}/benchmarks/finetune/{stem}.tsv"
        wildcard_constraints:
            variant=one_of(names),
            layers="none|[0-9]+",
        threads: cfg.runtime.finetune_threads
        resources:
            mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
            runtime=per_attempt(cfg.runtime.minutes, "finetune"),
            gpu=GPU,
            gpu_model=GPU_MODEL,
        params:
            cache=f"{cfg.results}/.work/runs",
            tokenizer=its_tokenizer,
            settings=functools.partial(run_settings, None, tasks),
            seeds=its(lambda config, _: config.experiment.seeds.finetune),
            code=code.digest("gpt1.finetune"),
        message:
            "finetune {wildcards.arch} of {wildcards.variant}, aux {wildcards.aux}, "
            "layers {wildcards.layers}: "
            f"{', '.join(tasks).replace('{', '{wildcards.')}"
        shell:
            "python -m gpt1.finetune {output.cells} --predictions {output.predictions}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            ' --keep "$KEPT_CELLS" &> {log}'


if with_planted and grid.has_corpus:

    use rule contamination as contamination_variant with:
        input:
            documents=of("books", "corpus/documents"),
            facts=of("books", "corpus/documents.json"),
            examples=of("tasks", *(f"examples/{task}" for task in PLANTED_TASKS)),
        output:
            [f"{VARIANT}/contamination/{task}.json" for task in PLANTED_TASKS],
        log:
            f"{VARIANT}/logs/contamination.log",
        benchmark:
            f"{VARIANT}/benchmarks/contamination.tsv"
        wildcard_constraints:
            variant=one_of(with_planted),
        params:
            tasks=PLANTED_TASKS,
            examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
            lengths="--every-length",
            out=subpath(output[0], parent=True),
            code=code.digest("gpt1.contamination"),
        message:
            "contamination of {wildcards.variant}: look for the planted examples in the books"
