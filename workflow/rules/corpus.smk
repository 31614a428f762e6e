# The corpus, from raw text to token arrays, and the tokenizer that is learnt from it.

BOOKS = plan.corpus_source(config), config["experiment"]["corpus"]
SHARDS = config["runtime"]["corpus_shards"]


rule clean:
    input:
        raw(*BOOKS),
        shards=shards("clean"),
    output:
        facts=f"{RESULTS}/corpus/clean.json",
        words=f"{RESULTS}/corpus/words.tsv",
    log:
        f"{RESULTS}/logs/clean.log",
    benchmark:
        f"{RESULTS}/benchmarks/clean.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: 4
    resources:
        mem_mb=2000,
        runtime=600,
    params:
        folder=plan.data_folder(config, *BOOKS),
        out=subpath(output.facts, strip_suffix=".json"),
        settings=as_json(settings.clean(config)),
        code=code.digest("gpt1.corpus"),
    message:
        "clean: standardise the books and count their words"
    shell:
        '"$PYTHON" -m gpt1.corpus clean --folder {params.folder:q}'
        " --settings {params.settings:q} --threads {threads}"
        " --out {params.out:q} 2>&1 | tee {log}"


if "merges" in config["experiment"]["tokenizer"]:

    rule tokenizer:
        input:
            f"{RESULTS}/corpus/words.tsv",
        output:
            encoder=ENCODER,
            merges=MERGES,
        log:
            f"{RESULTS}/logs/tokenizer.log",
        benchmark:
            f"{RESULTS}/benchmarks/tokenizer.tsv"
        priority: 10
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=8000,
            runtime=120,
        params:
            out=subpath(output.encoder, parent=True),
            merges=config["experiment"]["tokenizer"]["merges"],
            code=code.digest("gpt1.text.tokenizer"),
        message:
            "tokenizer: learn {params.merges} BPE merges"
        shell:
            '"$PYTHON" -m gpt1.text.tokenizer train --words {input} --merges {params.merges}'
            " --out {params.out:q} 2>&1 | tee {log}"


rule tokens:
    input:
        clean=f"{RESULTS}/corpus/clean.json",
        encoder=ENCODER,
        merges=MERGES,
        shards=shards("tokens"),
    output:
        facts=f"{RESULTS}/corpus/corpus.json",
        train=f"{RESULTS}/corpus/train.bin",
        heldout=f"{RESULTS}/corpus/heldout.bin",
    log:
        f"{RESULTS}/logs/tokens.log",
    benchmark:
        f"{RESULTS}/benchmarks/tokens.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: 4
    resources:
        mem_mb=2000,
        runtime=600,
    params:
        out=subpath(output.facts, parent=True),
        tokenizer=subpath(input.encoder, parent=True),
        code=code.digest("gpt1.corpus"),
    message:
        "tokens: encode the books"
    shell:
        '"$PYTHON" -m gpt1.corpus tokens --clean {input.clean} --tokenizer {params.tokenizer:q}'
        " --threads {threads} --out {params.out:q} 2>&1 | tee {log}"


if SHARDS > 1:

    rule clean_shard:
        input:
            raw(*BOOKS),
        output:
            temp(touch(f"{RESULTS}/corpus/.shards/clean-{{shard}}-of-{SHARDS}")),
        log:
            f"{RESULTS}/logs/clean/{{shard}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/clean/{{shard}}.tsv"
        priority: 10
        conda:
            "../../environment.yml"
        threads: 4
        resources:
            mem_mb=2000,
            runtime=600,
        params:
            folder=plan.data_folder(config, *BOOKS),
            out=f"{RESULTS}/corpus/clean",
            settings=as_json(settings.clean(config)),
            code=code.digest("gpt1.corpus"),
        message:
            "clean {wildcards.shard}: standardise a share of the books"
        shell:
            '"$PYTHON" -m gpt1.corpus clean --folder {params.folder:q}'
            " --settings {params.settings:q} --threads {threads}"
            " --share {wildcards.shard}/{SHARDS} --out {params.out:q} 2>&1 | tee {log}"

    rule tokens_shard:
        input:
            clean=f"{RESULTS}/corpus/clean.json",
            encoder=ENCODER,
            merges=MERGES,
        output:
            temp(touch(f"{RESULTS}/corpus/.shards/tokens-{{shard}}-of-{SHARDS}")),
        log:
            f"{RESULTS}/logs/tokens/{{shard}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/tokens/{{shard}}.tsv"
        priority: 10
        conda:
            "../../environment.yml"
        threads: 4
        resources:
            mem_mb=2000,
            runtime=600,
        params:
            out=f"{RESULTS}/corpus",
            tokenizer=subpath(input.encoder, parent=True),
            code=code.digest("gpt1.corpus"),
        message:
            "tokens {wildcards.shard}: encode a share of the books"
        shell:
            '"$PYTHON" -m gpt1.corpus tokens --clean {input.clean}'
            " --tokenizer {params.tokenizer:q} --threads {threads}"
            " --share {wildcards.shard}/{SHARDS} --out {params.out:q} 2>&1 | tee {log}"
