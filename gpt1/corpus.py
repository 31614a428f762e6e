"""Prepare a corpus: raw text to normalised documents, and those to memory-mapped token files.

GPT-1 learns from long stretches of contiguous text (paper 4.1), so the documents of a split become
one stream. Normalising is a step of its own, since it is slow and independent of the tokenizer.

    python -m gpt1 corpus documents --folder books --settings '{"heldout": 2}' --out out/documents
    python -m gpt1 corpus tokens --documents out/documents --tokenizer tokenizer --out out

Documents are rows of an Arrow folder, which `datasets.load_from_disk` opens as well, with columns
`name` and `text`: words joined by single spaces, with a newline at the end of each line.

The corpus of a negative control is another pair of token files: the same documents with the words
of each sentence in random order (`tokens --shuffled words`), or with all sentences of a split in
random order (`--shuffled sentences`). A model pre-trained on shuffled words has seen the same words
equally often, in the same sentences and documents, but not their order. A model pre-trained on
shuffled sentences has seen whole sentences, but no context beyond them: the 1B Word Benchmark is
like that, and the paper (4.1) chose books for their long stretches of contiguous text.
"""

import argparse
import functools
import hashlib
import itertools
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np

from gpt1.cell import SHUFFLED, Corpus
from gpt1.records import CorpusFacts, TokenFile
from gpt1.settings import CorpusSettings
from gpt1.streams import stream
from gpt1.text import normalise, sources
from gpt1.text.sources import Document, read_rows
from gpt1.text.tokenizer import WORDS, Tokenizer
from gpt1.text.tokens import DTYPE, N_SPECIAL
from gpt1.text.vocabulary import NEWLINE
from tasks.common.arrow import read_documents
from tasks.common.errors import InputError
from tasks.common.files import refuse_others, scratch_folder, sha256_file, write_atomic
from tasks.common.hf_datasets import MARK, NAMES, library
from tasks.common.records import DocumentFacts, DocumentsFacts, facts_path
from tasks.world import is_made

SPLITS = ("train", "heldout")
TOKENISED = ("bookcorpus", "bookcorpus_text")  # split into words by their publisher
AT_ONCE = 8  # documents, of a few MB each, that a process holds in memory
_MARKS = re.compile(r" @([-,.])@ ")  # WikiText's, around punctuation within words and numbers
END_MARKS = ".!?"


def documents(folder: Path, settings: CorpusSettings, out: Path, threads: int = 1) -> None:
    """Normalise the documents of `folder` and count the words of the training documents.

    Writes the Arrow folder `out` with the splits train and heldout, `<out>.json`, which describes
    it, and beside them `words.tsv`: lines "word<TAB>count", the most frequent first; newlines are
    not counted. Raises InputError for missing, changed or unfit files, wrong numbers of rows, a
    held-out choice that does not fit, a split without words, and an `out` of other files.
    """
    refuse_others(out, MARK, NAMES)
    for path in () if (out / MARK).exists() else (facts_path(out), out.with_name(WORDS)):
        if path.exists():
            raise InputError(f"{path}: would be replaced, and is of no {out}; name another --out")
    listed = sources.list_documents(folder, settings)
    counts = sources.count_rows(folder, settings, listed)
    heldout = sources.choose_heldout(folder, listed, settings.heldout)
    listed = sources.in_shares(folder, listed, heldout, settings.shares)
    if out.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"--out {out}: lies in the folder of the raw text; choose another folder")
    with scratch_folder(out) as scratch:
        rows = normalise_documents(listed, settings.source, scratch, threads)
        columns = rows.remove_columns("text")
        facts = [DocumentFacts(**row, heldout=row["name"] in heldout) for row in columns]
        splits = datasets.DatasetDict()
        for split in SPLITS:
            chosen = [i for i, row in enumerate(facts) if row.heldout is (split == "heldout")]
            if not any(facts[i].words for i in chosen):
                raise InputError(f"{folder}: the {split} documents contain no words; use others")
            splits[split] = rows.select(chosen, keep_in_memory=True)
        splits = splits.select_columns(["name", "text"])
        texts = map(str.split, splits["train"]["text"])  # without newlines
        words = Counter(itertools.chain.from_iterable(texts))
        splits.save_to_disk(scratch / "new", num_shards=dict.fromkeys(SPLITS, 1))
        shutil.rmtree(out, ignore_errors=True)
        (scratch / "new").rename(out)
    counts_path = out.with_name(WORDS)
    with write_atomic(counts_path) as file:
        for word, n in sorted(words.items(), key=lambda item: (-item[1], item[0])):
            file.write(f"{word}\t{n}\n")
    description = DocumentsFacts(
        source=settings.source or "folder",
        origin=sources.origin(folder, settings),
        rows=counts,
        versions={"ftfy": version("ftfy"), "spacy": normalise.rules().version},
        word_types=len(words),
        words_sha256=sha256_file(counts_path),
        documents=facts,
        made=not settings.source and is_made(folder),
    )
    description.write(facts_path(out))
    n_words = sum(row.words for row in facts)
    print(
        f"{len(facts):,} documents ({len(heldout):,} held out), {n_words:,} words",
        flush=True,
    )


def normalise_documents(
    documents: list[Document], source: str | None, cache: Path, threads: int
) -> datasets.Dataset:
    """Normalise each document to a row, in the given order, with `threads` processes.

    Columns: name, text, words, lines, source_bytes (as UTF-8, a line end being one byte), and
    sha256 (of the text). Temporary files go to `cache`. Raises InputError for text that cannot be
    read.
    """
    types = {"name": "string", "text": "string", "words": "int64", "lines": "int64"}
    types |= {"source_bytes": "int64", "sha256": "string"}
    parts = [{**asdict(document), "path": str(document.path)} for document in documents]
    return parallel_map(
        datasets.Dataset.from_list(parts).select_columns(["name", "path", "start", "stop"]),
        _normalise,
        threads,
        cache / "normalised.arrow",
        fn_kwargs={"source": source},
        remove_columns=["path", "start", "stop"],
        features=datasets.Features({k: datasets.Value(kind) for k, kind in types.items()}),
        writer_batch_size=AT_ONCE,
    )


def _normalise(part: dict[str, Any], source: str | None) -> dict[str, Any]:
    """One row of `normalise_documents`."""
    raw = read_rows(source, Path(part["path"]), part["start"], part["stop"])
    unmarked = _MARKS.sub(r"\1", raw) if source == "wikitext103" else raw
    text = normalise.normalise(unmarked, tokenised=source in TOKENISED)
    return {
        "text": text,
        "words": len(text.split()),
        "lines": text.count("\n"),
        "source_bytes": len(raw.encode()),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def parallel_map(
    rows: datasets.Dataset, function: Callable[..., Any], threads: int, cache: Path, **options: Any
) -> datasets.Dataset:
    """`rows.map` in at most `threads` processes. Raises InputError if one of them is killed."""
    processes = min(threads, len(rows))
    try:
        return rows.map(
            function,
            num_proc=processes if processes > 1 else None,
            cache_file_name=str(cache),
            # The default hashes the function and all that it refers to; nothing reads it.
            new_fingerprint=f"{cache.stem}-{len(rows)}",
            **options,
        )
    except RuntimeError as error:
        if "abruptly died" not in str(error):
            raise
        raise InputError(
            f"--threads {threads}: a worker was killed, most likely out of memory; use fewer"
        ) from None


def tokens(
    documents: Path, tokenizer: Path, out: Path, threads: int = 1, corpus: Corpus = "books"
) -> None:
    """Encode documents to `train.bin` and `heldout.bin` (uint16, little endian) in `out`.

    Documents follow one another in the order of their names; `corpus.json` says where each begins.
    For `shuffled`, the words of each sentence are put in random order; for `sentences-shuffled`,
    the sentences of a whole split, so that documents no longer have a start. The number of tokens
    stays the same. Raises InputError if the vocabulary does not fit into 16 bits, or if a document
    is not the one that `<documents>.json` describes.
    """
    encoder = Tokenizer.load(tokenizer)
    if encoder.n_vocab + N_SPECIAL > np.iinfo(DTYPE).max:
        raise InputError(
            f"{tokenizer}: {encoder.n_vocab:,} tokens and {N_SPECIAL} special tokens are too many "
            f"for 16-bit token files (at most {np.iinfo(DTYPE).max:,}); train with fewer merges"
        )
    types = {"ids": "uint16", "lengths": "uint32"}
    features = datasets.Features({k: datasets.List(datasets.Value(t)) for k, t in types.items()})
    splits: dict[str, TokenFile] = {}
    described = DocumentsFacts.read(facts_path(documents))
    with scratch_folder(out / "tokens") as scratch:
        for split in SPLITS:
            names = [name for name, _ in read_documents(documents, split)]
            encoded = parallel_map(
                library().Dataset.load_from_disk(documents / split),
                functools.partial(_encode, encoder=encoder, corpus=corpus),
                threads,
                scratch / f"{split}.arrow",
                remove_columns=["name", "text"],
                features=features,
                writer_batch_size=1,
            )
            ids, lengths = ([of.values.to_numpy() for of in encoded.data[k]] for k in types)
            starts = [0, *itertools.accumulate(map(len, ids))]
            starting = [
                {"name": name, "start": start, "tokens": len(of)}
                for name, start, of in zip(names, starts[:-1], ids, strict=True)
            ]
            parts: Iterable[np.ndarray] = ids
            if corpus == "sentences-shuffled":
                rng, n_tokens = stream("order of sentences", split), np.concatenate(lengths)
                parts = shuffle_sentences(np.concatenate(ids), n_tokens, encoder.newline_id, rng)
                starting = []
            path = out / f"{split}.bin"
            with write_atomic(path, "wb") as file:
                for part in parts:
                    file.write(part.astype(DTYPE).tobytes())
            facts: dict[str, Any] = {"file": path.name, "documents": starting}
            facts |= {"tokens": sum(map(len, ids)), "sha256": sha256_file(path)}
            own = (one for one in described.documents if one.heldout is (split == "heldout"))
            facts["source_bytes"] = sum(one.source_bytes for one in own)
            splits[split] = TokenFile(**facts)
    corpus_facts = CorpusFacts(
        splits=splits,
        tokenizer=encoder.digest,
        n_vocab=encoder.n_vocab,
        corpus=corpus,
        documents=sha256_file(facts_path(documents)),
        made=described.made,
    )
    corpus_facts.write(out / "corpus.json")
    print(", ".join(f"{split} {splits[split].tokens:,} tokens" for split in SPLITS), flush=True)


def _encode(row: dict[str, str], encoder: Tokenizer, corpus: Corpus) -> dict[str, np.ndarray]:
    """The token ids of one document, uint16 [n], and the lengths of sentences to be shuffled."""
    blocks, rng = [np.empty(0, DTYPE)], stream("order of words", row["name"])
    lengths: list[int] = []
    for block in normalise.cut(row["text"]):  # of whole lines, which no sentence crosses
        words = block.replace("\n", " \n ").split(" ")
        if corpus == "shuffled":
            words = list(shuffle_words(words, rng))
        parts = sentences(words) if corpus == "sentences-shuffled" else [words]
        encoded = [encoder.encode_words(part) for part in parts]
        blocks.append(np.fromiter(itertools.chain.from_iterable(encoded), DTYPE))
        if corpus == "sentences-shuffled":
            lengths += map(len, encoded)
    counts = np.array(lengths, np.uint32)
    return {"ids": np.concatenate(blocks), "lengths": counts[counts > 0]}


def sentences(words: Iterable[str]) -> Iterator[list[str]]:
    """The sentences of a text, each with its end mark; a line end is a sentence of its own.

    A sentence ends with a word made of END_MARKS only ("...") or with its line.
    """
    sentence: list[str] = []
    for word in words:
        if word == NEWLINE and sentence:
            yield sentence
            sentence = []
        sentence.append(word)
        if _is_end(word):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def shuffle_words(words: Iterable[str], rng: np.random.Generator) -> Iterator[str]:
    """The same words, in random order within each sentence; end marks stay in their places."""
    for sentence in sentences(words):
        n = len(sentence) - _is_end(sentence[-1])
        yield from (sentence[i] for i in rng.permutation(n))
        yield from sentence[n:]


def shuffle_sentences(
    ids: np.ndarray, lengths: np.ndarray, newline: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """The sentences of a stream of tokens in random order; line ends stay in their places.

    `ids` are the tokens, uint16 [n]; `lengths`, which sum to n, are the sentences' numbers of
    tokens. All is held in memory, with some 30 bytes per sentence: 6 GB for the paper's books.
    """
    starts = np.cumsum(lengths) - lengths
    order = np.arange(len(lengths))
    moved = order[ids[starts] != newline]
    order[moved] = rng.permutation(moved)
    for i in order:
        yield ids[starts[i] : starts[i] + lengths[i]]


def _is_end(word: str) -> bool:
    return word == NEWLINE or not word.strip(END_MARKS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Normalise a corpus and encode it.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, description in (
        ("documents", "raw text to normalised documents and word counts"),
        ("tokens", "normalised documents to token files"),
    ):
        command = commands.add_parser(name, help=description, description=description)
        command.add_argument("--out", type=Path, required=True, help="the folder to write")
        command.add_argument("--threads", type=int, default=1)
        if name == "tokens":
            command.add_argument("--documents", type=Path, required=True, help="document folder")
            command.add_argument("--tokenizer", type=Path, required=True, help="tokenizer folder")
            command.add_argument("--shuffled", choices=SHUFFLED, help="in random order: a control")
        else:
            command.add_argument("--folder", type=Path, required=True, help="of the raw text")
            command.add_argument("--settings", type=CorpusSettings.parse, required=True)
    args = parser.parse_args()
    library()  # offline and quiet
    if args.command == "documents":
        documents(args.folder, args.settings, args.out, args.threads)
    else:
        corpus = SHUFFLED.get(args.shuffled, "books")
        tokens(args.documents, args.tokenizer, args.out, args.threads, corpus)
