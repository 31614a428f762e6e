# The studies: a table and a figure each, asked for by name, and the cells that no grid has. Any cell
# of a variant can be asked for by its path, whether or not a study has it.


rule study:
    input:
        study_inputs,
    output:
        csv=in_report("<results>/studies/{study}.csv", "Studies", "study", study="{study}"),
        md="<results>/studies/{study}.md",
        png=in_report("<results>/studies/{study}.png", "Studies", "study", study="{study}"),
        svg="<results>/studies/{study}.svg",
    log:
        "<results>/logs/study/{study}.log",
    benchmark:
        "<results>/benchmarks/study/{study}.tsv"
    wildcard_constraints:
        study="[a-z0-9_]+",
    localrule: True
    params:
        results=subpath(output.csv, ancestor=2),
        grid=settings(cfg.grid),
        study=lambda wildcards: study(wildcards).to_json(),
        code=code.digest("workflow.analysis.studies"),
    message:
        "study {wildcards.study}: its table and its figure"
    shell:
        "python -m workflow.analysis.studies --results {params.results:q} --grid {params.grid:q}"
        " --study {params.study:q} --out {output.csv} &> {log}"


rule finetune_variant:
    input:
        vocabulary,
        encoded="<results>/encoded/{task}",
        baselines="<results>/baselines/{task}.json",
        checkpoints=lambda wildcards: starts(wildcards, "checkpoint"),
        facts=lambda wildcards: starts(wildcards, "facts"),
    output:
        cell="<results>/cells/{model}/{task}/aux-{aux}/layers-{layers}.json",
        predictions="<results>/predictions/{model}/{task}/aux-{aux}/layers-{layers}.parquet",
    log:
        "<results>/logs/finetune_variant/{model}/{task}/{aux}/{layers}.log",
    benchmark:
        "<results>/benchmarks/finetune_variant/{model}/{task}/{aux}/{layers}.tsv"
    wildcard_constraints:
        model=rf"(?:transformer|lstm)\+(?![^/]*together-){studies.VARIANT}",
        layers="none|[0-9]+",
    threads: cfg.runtime.finetune_threads
    resources:
        mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
        runtime=per_attempt(cfg.runtime.minutes, "finetune"),
        gpu=GPU,
        gpu_model=GPU_MODEL,
    params:
        cache=f"{cfg.results}/.work/runs",
        tokenizer=TOKENIZER,
        settings=lambda wildcards: studies.settings(cfg, [variant_cell(wildcards)]).to_json(),
        seeds=grid.seeds.finetune,
        code=code.digest("gpt1.finetune"),
    message:
        "finetune {wildcards.model} on {wildcards.task}, aux {wildcards.aux}: "
        "layers {wildcards.layers}"
    shell:
        "python -m gpt1.finetune {output.cell} --predictions {output.predictions}"
        " --encoded {input.encoded} --baselines {input.baselines}"
        " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
        " --settings {params.settings:q} --seeds {params.seeds}"
        ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
        " &> {log}"


# One model makes a cell of each of its tasks, so a rule for each model of the config's studies.
for i, cells in enumerate(studies.together(cfg), 1):

    rule:
        name:
            f"finetune_together_{i}"
        input:
            encoded=[f"<results>/encoded/{cell.task}" for cell in cells],
            baselines=[f"<results>/baselines/{cell.task}.json" for cell in cells],
            checkpoints=started_from(cells[0], "checkpoint"),
            facts=started_from(cells[0], "facts"),
        output:
            cells=[cell.path("<results>") for cell in cells],
            predictions=[cell.predictions("<results>") for cell in cells],
        log:
            f"<results>/logs/finetune_together_{i}.log",
        benchmark:
            f"<results>/benchmarks/finetune_together_{i}.tsv"
        threads: cfg.runtime.finetune_threads
        resources:
            mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
            runtime=per_attempt(cfg.runtime.minutes, "finetune"),
            gpu=GPU,
            gpu_model=GPU_MODEL,
        params:
            cache=f"{cfg.results}/.work/runs",
            settings=settings(functools.partial(studies.settings, cfg, cells)),
            seeds=grid.seeds.finetune,
            code=code.digest("gpt1.finetune"),
        message:
            f"finetune {cells[0].arch} on {', '.join(cell.task for cell in cells)} at once, aux "
            f"{cells[0].aux}: layers {cells[0].n_transfer}"
        shell:
            "python -m gpt1.finetune {output.cells} --predictions {output.predictions}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            " &> {log}"


if grid.has_corpus:

    use rule pretrain as pretrain_variant with:
        output:
            checkpoints=checkpoints(any_model(variant="{variant}")),
            log=any_model(variant="{variant}").folder("<results>") / "log.csv",
        log:
            "<results>/logs/pretrain_variant/{arch}/{variant}/{seed}.log",
        benchmark:
            "<results>/benchmarks/pretrain_variant/{arch}/{variant}/{seed}.tsv"
        wildcard_constraints:
            variant=studies.VARIANT,
        priority: 10  # not inherited
        params:
            work=f"{cfg.results}/.work/pretrain",
            out=subpath(output.log, parent=True),
            settings=settings(
                functools.partial(studies.pretrain_settings, cfg),
                *("arch", "seed", "variant"),
            ),
            code=code.digest("gpt1.pretrain"),
        message:
            "pretrain {wildcards.arch}, {wildcards.variant}, seed {wildcards.seed}"
