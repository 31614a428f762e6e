# Which reported examples the language model was trained on: one job, which reads the corpus once for
# all tasks.


rule contamination:
    input:
        corpus=rules.tokens.output,
        clean=rules.clean.output.facts,
        examples=expand(rules.examples.output.examples, task=plan.example_tasks(config)),
        encoded=expand(rules.encode.output, task=plan.example_tasks(config)),
    output:
        expand(
            "{results}/contamination/{task}.json",
            results=RESULTS,
            task=plan.example_tasks(config),
        ),
    log:
        f"{RESULTS}/logs/contamination.log",
    benchmark:
        f"{RESULTS}/benchmarks/contamination.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        tasks=list(plan.example_tasks(config)),
        examples=lambda wildcards, input: str(Path(input.examples[0]).parent),
        encoded=lambda wildcards, input: str(Path(input.encoded[0]).parent),
        out=subpath(output[0], parent=True),
        code=code.digest("gpt1.contamination"),
    message:
        "contamination: look for the reported examples in the corpus"
    shell:
        '"$PYTHON" -m gpt1.contamination {params.tasks} --corpus {input.corpus[0]}'
        " --clean {input.clean} --examples {params.examples:q} --encoded {params.encoded:q}"
        " --out {params.out:q} 2>&1 | tee {log}"
