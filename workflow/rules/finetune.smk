# The cells. A rule for each part of an architecture's layer sweep, so that one process trains many
# cells: starting one costs as much as training a small cell. Sharding is not a param, so resharding
# reruns nothing. Layers that the grid leaves out can be asked for cell by cell.
import re

for job in jobs(grid, cfg.runtime.shards):

    rule:
        name:
            job.name
        input:
            encoded="<results>/encoded/{task}",
            baselines="<results>/baselines/{task}.json",
            checkpoints=[m.checkpoint("<results>", grid.updates[-1]) for m in job.sources],
            facts=[m.facts("<results>", grid.updates[-1]) for m in job.sources],
        output:
            cells=[cell.path("<results>") for cell in job.cells],
            predictions=[cell.predictions("<results>") for cell in job.cells],
        log:
            f"<results>/logs/{job.name}/{{task}}/{{aux}}.log",
        benchmark:
            f"<results>/benchmarks/{job.name}/{{task}}/{{aux}}.tsv"
        threads: cfg.runtime.finetune_threads
        resources:
            mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
            runtime=per_attempt(cfg.runtime.minutes, "finetune"),
            gpu=GPU,
            gpu_model=GPU_MODEL,
        params:
            cache=f"{cfg.results}/.work/runs",
            settings=settings(functools.partial(cfg.run_settings, job.arch), "task", "aux"),
            seeds=grid.seeds.finetune,
            code=code.digest("gpt1.finetune"),
        message:
            f"finetune {job.sources[0].name} on {{wildcards.task}}, aux {{wildcards.aux}}: "
            f"layers {', '.join(map(str, job.layers))}"
        shell:
            "python -m gpt1.finetune {output.cells} --predictions {output.predictions}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            ' --keep "$KEPT_CELLS"'
            " &> {log}"


# The weights of the cells of experiment.keep. A cell that is trained after it was named has left
# them in the cache; another is trained again.
for cell in cfg.kept():

    rule:
        name:
            f"finetune_kept_{re.sub('[^a-z0-9]', '_', cell.place)}"
        input:
            cell=cell.path("<results>"),
            encoded=f"<results>/encoded/{cell.task}",
            baselines=f"<results>/baselines/{cell.task}.json",
            checkpoints=started_from(cell, "checkpoint"),
            facts=started_from(cell, "facts"),
            tokenizer=vocabulary,
        output:
            directory(cell.kept("<results>")),
        log:
            f"<results>/logs/finetune_kept/{cell.place}.log",
        benchmark:
            f"<results>/benchmarks/finetune_kept/{cell.place}.tsv"
        threads: cfg.runtime.finetune_threads
        resources:
            mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
            runtime=per_attempt(cfg.runtime.minutes, "finetune"),
            gpu=GPU,
            gpu_model=GPU_MODEL,
        params:
            cache=f"{cfg.results}/.work/runs",
            settings=settings(functools.partial(studies.settings, cfg, [cell])),
            seeds=grid.seeds.finetune,
            tokenizer=TOKENIZER,
            code=code.digest("gpt1.finetune"),
        message:
            f"keep {cell.place}: its weights"
        shell:
            "python -m gpt1.finetune {input.cell} --weights {output}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            " &> {log}"
