# Books of a study's own, and what is made of them: language models of the run's seeds, their probes,
# the cells. All lies in a folder of the books' name, and everything else is shared with the run.
BOOKS = "<results>/books/{books}"
RAW = f"{cfg.results}/books/{{books}}/world"
PLANTED_TASKS = books.planted_tasks(cfg)
# A change of these needs more than these books.
OTHER_MODEL = r"[^/]*(?:block|prompted|update|n_layer|n_hidden)-"
OWN_MODEL = rf"(?:transformer|lstm)(?:\+(?!{OTHER_MODEL}){studies.VARIANT})?"


rule world_without:
    output:
        f"{BOOKS}/world/manifest.json",
    log:
        f"{BOOKS}/logs/world_without.log",
    benchmark:
        f"{BOOKS}/benchmarks/world_without.tsv"
    wildcard_constraints:
        books=books.WITHOUT,
    priority: 10
    resources:
        mem_mb=2000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        out=subpath(output[0], parent=True),
        settings=settings(functools.partial(books.world_at, cfg), "books"),
        code=code.digest("tasks.world"),
    message:
        "books {wildcards.books}: write them, and the same tasks again"
    shell:
        "python -m tasks.world --settings {params.settings:q} --out {params.out:q}" " &> {log}"


rule world_planted:
    input:
        "<results>/world/manifest.json",
        documents="<results>/corpus/documents.json",
        examples=expand("<results>/examples/{task}", task=PLANTED_TASKS),
    output:
        f"{BOOKS}/world/manifest.json",
    log:
        f"{BOOKS}/logs/world_planted.log",
    benchmark:
        f"{BOOKS}/benchmarks/world_planted.tsv"
    wildcard_constraints:
        books=books.PLANTED,
    priority: 10
    resources:
        mem_mb=2000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        tasks=PLANTED_TASKS,
        counts=lambda wildcards: books.counts(wildcards.books),
        folder=DATA["corpus"].folder,
        examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
        out=subpath(output[0], parent=True),
        code=code.digest("tasks.world.planting"),
    message:
        "books {wildcards.books}: plant reported rows into the world's"
    shell:
        "python -m tasks.world.planting {params.tasks} --counts {params.counts}"
        " --books {params.folder:q} --documents {input.documents}"
        " --examples {params.examples:q} --out {params.out:q} &> {log}"


use rule documents as books_documents with:
    input:
        f"{BOOKS}/world/manifest.json",
    output:
        documents=directory(f"{BOOKS}/corpus/documents"),
        facts=f"{BOOKS}/corpus/documents.json",
        words=f"{BOOKS}/corpus/words.tsv",
    log:
        f"{BOOKS}/logs/books_documents.log",
    benchmark:
        f"{BOOKS}/benchmarks/books_documents.tsv"
    priority: 10  # not inherited
    params:
        folder=f"{RAW}/books",
        settings=settings(cfg.corpus),
        code=code.digest("gpt1.corpus"),
    message:
        "documents {wildcards.books}: normalise the books"


use rule tokens as books_tokens with:
    input:
        vocabulary,
        documents=f"{BOOKS}/corpus/documents",
        facts=f"{BOOKS}/corpus/documents.json",
    output:
        facts=f"{BOOKS}/corpus/corpus.json",
        tokens=[f"{BOOKS}/corpus/train.bin", f"{BOOKS}/corpus/heldout.bin"],
    log:
        f"{BOOKS}/logs/books_tokens.log",
    benchmark:
        f"{BOOKS}/benchmarks/books_tokens.tsv"
    priority: 10
    message:
        "tokens {wildcards.books}: encode the books"


use rule pretrain as pretrain_books with:
    input:
        rules.books_tokens.output.tokens,
        corpus=rules.books_tokens.output.facts,
    output:
        checkpoints=[
            path(BOOKS, update)
            for path in (MODEL.checkpoint, MODEL.facts)
            for update in grid.updates
        ],
        log=MODEL.folder(BOOKS) / "log.csv",
    log:
        f"{BOOKS}/logs/pretrain_books/{{arch}}/{{seed}}.log",
    benchmark:
        f"{BOOKS}/benchmarks/pretrain_books/{{arch}}/{{seed}}.tsv"
    priority: 10
    message:
        "pretrain {wildcards.arch}, seed {wildcards.seed}: the same on the books {wildcards.books}"


use rule probes as probes_books with:
    input:
        vocabulary,
        paths.raw_probes(cfg),
        MODEL.facts(BOOKS, grid.updates[-1]),
        checkpoints=MODEL.checkpoint(BOOKS, grid.updates[-1]),
    output:
        MODEL.probes(BOOKS, grid.updates[-1]),
    log:
        f"{BOOKS}/logs/probes_books/{{arch}}/{{seed}}.log",
    benchmark:
        f"{BOOKS}/benchmarks/probes_books/{{arch}}/{{seed}}.tsv"
    message:
        "probes {wildcards.arch} of the books {wildcards.books}: score the last checkpoint"


use rule finetune_variant as finetune_books with:
    input:
        vocabulary,
        encoded="<results>/encoded/{task}",
        baselines="<results>/baselines/{task}.json",
        checkpoints=lambda wildcards: of_books(wildcards, "checkpoint"),
        facts=lambda wildcards: of_books(wildcards, "facts"),
    output:
        cell=f"{BOOKS}/cells/{{model}}/{{task}}/aux-{{aux}}/layers-{{layers}}.json",
        predictions=f"{BOOKS}/predictions/{{model}}/{{task}}/aux-{{aux}}/layers-{{layers}}.parquet",
    log:
        f"{BOOKS}/logs/finetune_books/{{model}}/{{task}}/{{aux}}/{{layers}}.log",
    benchmark:
        f"{BOOKS}/benchmarks/finetune_books/{{model}}/{{task}}/{{aux}}/{{layers}}.tsv"
    wildcard_constraints:
        model=OWN_MODEL,
        layers="none|[0-9]+",
    message:
        "finetune {wildcards.model} of the books {wildcards.books} on {wildcards.task}, "
        "aux {wildcards.aux}: layers {wildcards.layers}"


if PLANTED_TASKS:

    use rule contamination as contamination_books with:
        input:
            documents=f"{BOOKS}/corpus/documents",
            facts=f"{BOOKS}/corpus/documents.json",
            examples=expand("<results>/examples/{task}", task=PLANTED_TASKS),
        output:
            [f"{BOOKS}/contamination/{task}.json" for task in PLANTED_TASKS],
        log:
            f"{BOOKS}/logs/contamination_books.log",
        benchmark:
            f"{BOOKS}/benchmarks/contamination_books.tsv"
        wildcard_constraints:
            books=books.PLANTED,
        params:
            tasks=PLANTED_TASKS,
            examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
            lengths="--every-length",
            out=subpath(output[0], parent=True),
            code=code.digest("gpt1.contamination"),
        message:
            "contamination: look for the planted examples in the books {wildcards.books}"
