# The corpus, from raw text to token files, and the tokenizer that is learnt from it.


rule documents:
    input:
        lambda wildcards: raw("corpus"),
    output:
        documents=directory("<results>/corpus/documents"),
        facts="<results>/corpus/documents.json",
        words="<results>/corpus/words.tsv",
    log:
        "<results>/logs/documents.log",
    benchmark:
        "<results>/benchmarks/documents.tsv"
    priority: 10
    threads: 4  # more by --set-threads documents=16
    resources:
        mem_mb=lambda wildcards, threads: 500 * threads,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        folder=DATA["corpus"].folder,
        settings=settings(cfg.corpus),
        code=code.digest("gpt1.corpus"),
    message:
        "documents: normalise the books and count their words"
    shell:
        "python -m gpt1.corpus documents --folder {params.folder:q}"
        " --settings {params.settings:q} --threads {threads} --out {output.documents}"
        " &> {log}"


if cfg.experiment.tokenizer.merges:

    rule tokenizer:
        input:
            documents="<results>/corpus/documents",
            facts="<results>/corpus/documents.json",
            words="<results>/corpus/words.tsv",
        output:
            paths.tokenizer_files(cfg),
        log:
            "<results>/logs/tokenizer.log",
        benchmark:
            "<results>/benchmarks/tokenizer.tsv"
        priority: 10
        resources:
            mem_mb=8000,
            runtime=per_attempt(cfg.runtime.minutes, "data"),
        params:
            out=subpath(output[0], parent=True),
            merges=cfg.experiment.tokenizer.merges,
            code=code.digest("gpt1.text.tokenizer"),
        message:
            "tokenizer: learn {params.merges} BPE merges"
        shell:
            "python -m gpt1.text.tokenizer train --documents {input.documents}"
            " --merges {params.merges} --out {params.out:q} &> {log}"


rule tokens:
    input:
        vocabulary,
        documents="<results>/corpus/documents",
        facts="<results>/corpus/documents.json",
    output:
        facts="<results>/corpus/corpus.json",
        tokens=["<results>/corpus/train.bin", "<results>/corpus/heldout.bin"],
    log:
        "<results>/logs/tokens.log",
    benchmark:
        "<results>/benchmarks/tokens.tsv"
    priority: 10
    threads: 4
    resources:
        mem_mb=2000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        out=subpath(output.facts, parent=True),
        tokenizer=TOKENIZER,
        shuffled="",
        code=code.digest("gpt1.corpus"),
    message:
        "tokens: encode the books"
    shell:
        "python -m gpt1.corpus tokens {params.shuffled} --documents {input.documents}"
        " --tokenizer {params.tokenizer:q} --threads {threads} --out {params.out:q}"
        " &> {log}"


use rule tokens as shuffled_tokens with:
    output:
        facts="<results>/corpus/shuffled/corpus.json",
        tokens=[
            "<results>/corpus/shuffled/train.bin",
            "<results>/corpus/shuffled/heldout.bin",
        ],
    log:
        "<results>/logs/shuffled_tokens.log",
    benchmark:
        "<results>/benchmarks/shuffled_tokens.tsv"
    priority: 10  # not inherited
    params:
        out=subpath(output.facts, parent=True),
        tokenizer=TOKENIZER,
        shuffled="--shuffled",
        code=code.digest("gpt1.corpus"),
    message:
        "shuffled tokens: encode the books with the words of each sentence in random order"
