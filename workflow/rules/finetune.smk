# The cells. A rule for each part of an architecture's layer sweep, so that one process trains many
# cells: starting one costs as much as training a small cell. Where the layers are cut into shards is
# seen by no param, so that cutting otherwise reruns nothing.


def finetune_settings(arch):
    """The settings of one architecture's cells, by their task and aux."""
    return lambda wildcards: json.dumps(
        settings.finetune(config, arch, wildcards.task, wildcards.aux)
    )


def hidden_rows(job):
    """The rows without labels that a job predicts as well: those of the cell that is handed in."""

    def path(wildcards):
        handed_in = (job.arch, job.part, wildcards.aux) == ("transformer", "ends", "on")
        if handed_in and wildcards.task in plan.hidden_tasks(config):
            return f"{RESULTS}/hidden/{wildcards.task}.npz"
        return []

    return path


for job in plan.jobs(config):

    rule:
        name:
            job.name
        input:
            encoded=f"{RESULTS}/encoded/{{task}}.npz",
            hidden=hidden_rows(job),
            baselines=f"{RESULTS}/baselines/{{task}}.json",
            checkpoint=f"{RESULTS}/pretrain/{job.arch}/update-{UPDATES[-1]}.safetensors",
            facts=f"{RESULTS}/pretrain/{job.arch}/update-{UPDATES[-1]}.json",
        output:
            cells=[cell.path(RESULTS) for cell in job.cells],
            predictions=[cell.predictions(RESULTS) for cell in job.cells],
        log:
            f"{RESULTS}/logs/{job.name}/{{task}}-aux-{{aux}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{job.name}/{{task}}-aux-{{aux}}.tsv"
        conda:
            "../../environment.yml"
        threads: config["runtime"]["finetune_threads"]
        resources:
            mem_mb=mem_mb("finetune"),
            runtime=minutes("finetune"),
            gpu=GPU,
        params:
            journal=f"{RESULTS}/.work/journal",
            hidden=lambda wildcards, input: f"--hidden {input.hidden}"
            * bool(input.hidden),
            settings=finetune_settings(job.arch),
            seeds=config["experiment"]["seeds"][job.part],
            code=code.digest("gpt1.cells"),
        message:
            f"finetune {job.arch} on {{wildcards.task}}, aux {{wildcards.aux}}: "
            f"layers {', '.join(job.layers)}"
        shell:
            '"$PYTHON" -m gpt1.cells {output.cells} --encoded {input.encoded} {params.hidden}'
            " --baselines {input.baselines} --checkpoint {input.checkpoint}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code}'
            " --journal {params.journal:q} 2>&1 | tee {log}"
