# Data sets of the Hugging Face hub, each at one commit; the only jobs that use the network.


rule fetch:
    output:
        # Kept when the job starts: what is there and right is not fetched again.
        update(f"{RESULTS}/raw/{{name}}/{{revision}}/manifest.json"),
    log:
        f"{RESULTS}/logs/fetch/{{name}}/{{revision}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fetch/{{name}}/{{revision}}.tsv"
    wildcard_constraints:
        name="[a-z0-9_]+",
        revision="[0-9a-f]{40}",
    localrule: True  # compute nodes often have no network
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=600,
    params:
        folder=subpath(output[0], parent=True),
        code=code.digest("tasks.fetch"),
    message:
        "fetch {wildcards.name}: from the hub, at commit {wildcards.revision}"
    # Over plain HTTP rather than Xet, whose faults are exceptions that no one documents.
    shell:
        'HF_HUB_DISABLE_XET=1 HF_HUB_OFFLINE="$FETCH_OFFLINE" "$PYTHON" -m tasks.fetch'
        " {wildcards.name} --revision {wildcards.revision} --folder {params.folder:q} 2>&1 | tee {log}"
