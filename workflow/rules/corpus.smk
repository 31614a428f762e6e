# The corpus, from raw text to token files, and the tokenizer that is learnt from it.
# The world's books take seconds on one core. A job that asks for several cores waits until all of
# them are free, while those already free stay idle.
books = cfg.experiment.corpus
corpus_threads = 1 if books and cfg.is_synthetic(books) else 4


rule documents:
    input:
        raw_inputs,
    output:
        documents=directory("<results>{home}/corpus/documents"),
        facts="<results>{home}/corpus/documents.json",
        words="<results>{home}/corpus/words.tsv",
    log:
        "<results>{home}/logs/documents.log",
    benchmark:
        "<results>{home}/benchmarks/documents.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("books")),
    priority: 10
    threads: corpus_threads  # more by --set-threads documents=16
    resources:
        **data_job(lambda wildcards, threads: 500 * threads),
    params:
        folder=lambda w: data_set_of(w).folder,
        settings=settings_json(lambda config, _: config.corpus()),
        contents=contents(raw_inputs),
        code=code.digest("gpt1.corpus"),
    shell:
        "python -m gpt1 corpus documents --folder {params.folder:q}"
        " --settings {params.settings:q} --threads {threads} --out {output.documents}"
        " &> {log}"


rule baselines_word_classes:
    input:
        documents=stage_inputs("books", "corpus/documents"),
        facts=stage_inputs("books", "corpus/documents.json"),
    output:
        "<results>{home}/corpus/word_classes.json",
    log:
        "<results>{home}/logs/baselines_word_classes.log",
    benchmark:
        "<results>{home}/benchmarks/baselines_word_classes.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("books")),
    resources:
        **data_job(4000),
    params:
        code=code.digest("tasks.word_classes"),
    shell:
        "python -m tasks word_classes --documents {input.documents} --out {output} &> {log}"


if LEARNT:

    rule tokenizer:
        input:
            documents=stage_inputs("books", "corpus/documents"),
            facts=stage_inputs("books", "corpus/documents.json"),
            words=stage_inputs("books", "corpus/words.tsv"),
        output:
            [f"<results>{{home}}/tokenizer/{name}" for name in FILES],
        log:
            "<results>{home}/logs/tokenizer.log",
        benchmark:
            "<results>{home}/benchmarks/tokenizer.tsv"
        wildcard_constraints:
            home=home_pattern(LEARNT),
        priority: 10
        resources:
            **data_job(8000),
        params:
            out=subpath(output[0], parent=True),
            merges=lambda w: config_of(w).experiment.tokenizer.merges,
            code=code.digest("gpt1.text.tokenizer"),
        shell:
            "python -m gpt1 tokenizer --documents {input.documents}"
            " --merges {params.merges} --out {params.out:q} &> {log}"


rule tokens:
    input:
        vocabulary,
        documents=stage_inputs("books", "corpus/documents"),
        facts=stage_inputs("books", "corpus/documents.json"),
    output:
        facts="<results>{home}/corpus/corpus.json",
        tokens=["<results>{home}/corpus/train.bin", "<results>{home}/corpus/heldout.bin"],
    log:
        "<results>{home}/logs/tokens.log",
    benchmark:
        "<results>{home}/benchmarks/tokens.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("tokens")),
    priority: 10
    threads: corpus_threads
    resources:
        # The order of all sentences is held in memory.
        **data_job(lambda w: 8000 if shuffled_option(config_of(w)) else 2000),
    params:
        out=subpath(output.facts, parent=True),
        tokenizer=tokenizer_folder,
        contents=contents(vocabulary),
        shuffled=lambda w: shuffled_option(config_of(w)),
        code=code.digest("gpt1.corpus"),
    shell:
        "python -m gpt1 corpus tokens {params.shuffled} --documents {input.documents}"
        " --tokenizer {params.tokenizer:q} --threads {threads} --out {params.out:q}"
        " &> {log}"


# Which reported examples the language model was trained on: one job, which reads the corpus once
# for all tasks.
rule contamination:
    input:
        documents="<results>/corpus/documents",
        facts="<results>/corpus/documents.json",
        examples=expand("<results>/examples/{task}", task=grid.examples),
    output:
        expand("<results>/contamination/{task}.json", task=grid.examples),
    log:
        "<results>/logs/contamination.log",
    benchmark:
        "<results>/benchmarks/contamination.tsv"
    resources:
        **data_job(8000),
    params:
        tasks=grid.examples,
        examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
        out=subpath(output[0], parent=True),
        code=code.digest("gpt1.contamination"),
    shell:
        "python -m gpt1 contamination {params.tasks}"
        " --documents {input.documents} --examples {params.examples:q} --out {params.out:q}"
        " &> {log}"
