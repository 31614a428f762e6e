# GLUE's test rows, which have no labels: predicted by the paper's own model, and made into a hand-in.


SUBMISSION = f"{RESULTS}/glue_submission.zip"


if config["experiment"]["submission"]:

    rule hidden:
        input:
            raw_task,
            lambda wildcards: plan.hidden_elsewhere(config, wildcards.task),
        output:
            f"{RESULTS}/hidden/{{task}}.jsonl",
        log:
            f"{RESULTS}/logs/hidden/{{task}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/hidden/{{task}}.tsv"
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=60,
        params:
            folder=task_folder,
            source=lambda wildcards: settings.hidden(config, wildcards.task),
            code=code.digest("tasks.hidden"),
        message:
            "hidden {wildcards.task}: read the test rows without labels"
        shell:
            '"$PYTHON" -m tasks.hidden {wildcards.task} --folder {params.folder:q} {params.source}'
            " --out {output} 2>&1 | tee {log}"

    use rule encode as encode_hidden with:
        input:
            examples=f"{RESULTS}/hidden/{{task}}.jsonl",
            encoder=ENCODER,
            merges=MERGES,
        output:
            f"{RESULTS}/hidden/{{task}}.npz",
        log:
            f"{RESULTS}/logs/encode_hidden/{{task}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/encode_hidden/{{task}}.tsv"
        message:
            "encode {wildcards.task}: test rows without labels to token arrays"

    HANDED_IN = [
        cell
        for cell in plan.fully_transferred(config)
        if cell.aux == "on" and cell.task in plan.hidden_tasks(config)
    ]

    rule glue_submission:
        input:
            cells=[cell.path(RESULTS) for cell in HANDED_IN],
            predictions=[cell.predictions(RESULTS) for cell in HANDED_IN],
            rows=[f"{RESULTS}/hidden/{cell.task}.jsonl" for cell in HANDED_IN],
            encoded=[f"{RESULTS}/hidden/{cell.task}.npz" for cell in HANDED_IN],
            meta=[f"{RESULTS}/examples/{cell.task}.json" for cell in HANDED_IN],
        output:
            zip=SUBMISSION,
            facts=f"{RESULTS}/glue_submission.json",
        log:
            f"{RESULTS}/logs/glue_submission.log",
        benchmark:
            f"{RESULTS}/benchmarks/glue_submission.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=15,
        params:
            results=subpath(output.zip, parent=True),
            settings=as_json(settings.submission(config)),
            code=code.digest("workflow.analysis.submission"),
        message:
            "submission: the eleven files for the GLUE server"
        shell:
            '"$PYTHON" -m workflow.analysis.submission --results {params.results:q}'
            " --settings {params.settings:q} --out {output.zip} 2>&1 | tee {log}"

elif SUBMISSION in sys.argv:
    sys.exit(
        f"error: {SUBMISSION}: experiment.submission is false; set it to true in the config"
    )
