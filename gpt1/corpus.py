"""A corpus: from raw text to normalised documents, and from those to memory-mapped token files.

GPT-1 learns from long stretches of contiguous text (paper 4.1), so the documents of a split become
one stream. Normalising is a step of its own: slow, and independent of the tokenizer. It can be cut
into shards, each a job of its own, whose folders the step then concatenates.

    python -m gpt1.corpus documents --folder books --settings '{"heldout": 2}' --out out/documents
    python -m gpt1.corpus tokens --documents out/documents --tokenizer tokenizer --out out
"""

import argparse
import contextlib
import functools
import logging
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np

from gpt1.special_tokens import N_SPECIAL
from gpt1.text import normalise, sources
from gpt1.text.documents import (
    check_document,
    count_words,
    document_digests,
    normalise_documents,
    parallel_map,
)
from gpt1.text.settings import CorpusSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import DTYPE
from tasks.common.arrow import read_split
from tasks.common.errors import InputError, run
from tasks.common.files import sha256_file, write_atomic, write_json

SPLITS = ("train", "heldout")
FILE_BYTES = 1 << 29  # of text in one Arrow file, about


def shard(
    folder: Path, settings: CorpusSettings, out: Path, number: int, of: int, threads: int = 1
) -> None:
    """Normalise one of `of` equal shares of the documents of `folder` into the Arrow folder `out`.

    `number` counts from 1. Of files of the hub only the sizes are checked; `documents` reads them
    as a whole. Raises InputError for files that are missing, changed or not text.
    """
    everything = sources.list_documents(folder, settings, whole=False)
    share = slice(len(everything) * (number - 1) // of, len(everything) * number // of)
    with _scratch(out, folder) as scratch:
        documents = normalise_documents(everything[share], settings.source, scratch, threads)
        documents.save_to_disk(scratch / "new", num_shards=_n_files(documents))
        _replace(scratch / "new", out)
    print(f"{len(documents):,} of {len(everything):,} documents", flush=True)


def documents(
    folder: Path,
    settings: CorpusSettings,
    out: Path,
    threads: int = 1,
    shards: Sequence[Path] = (),
) -> None:
    """Normalise all documents of `folder`, or take them from `shards`; count the training words.

    Writes the Arrow folder `out` with the splits train and heldout, `<out>.json`, which describes
    it, and beside them `words.tsv`: "word<TAB>count" by falling count, newlines not counted.
    Raises InputError for missing, changed or unfit files, wrong numbers of rows, a held-out choice
    that does not fit, shards of other documents, and a corpus without words.
    """
    start = time.monotonic()
    everything = sources.list_documents(folder, settings)
    rows = sources.count_rows(folder, settings, everything)
    for split, n in rows.items():
        print(f"{settings.source} {split}: {n['found']:,} rows of {n['published']:,}", flush=True)
    chosen = sources.choose_heldout(everything, settings.heldout, folder)
    with _scratch(out, folder) as scratch:
        if shards:
            made = _concatenated(shards, [document.name for document in everything])
        else:
            made = normalise_documents(everything, settings.source, scratch, threads)
        facts = made.remove_columns("text").to_list()
        splits = datasets.DatasetDict()
        for split in SPLITS:
            of_split = [
                i for i, d in enumerate(facts) if (d["name"] in chosen) == (split != "train")
            ]
            if not any(facts[i]["words"] for i in of_split):
                what = "training" if split == "train" else "held-out"
                raise InputError(f"{folder}: the {what} books have no words in them; give others")
            splits[split] = made.select(of_split, keep_in_memory=True)
        counts = count_words(splits["train"], scratch, threads)
        splits = splits.select_columns(["name", "text"])
        splits.save_to_disk(
            scratch / "new", num_shards={split: _n_files(splits[split]) for split in SPLITS}
        )
        _replace(scratch / "new", out)
    with write_atomic(out.with_name("words.tsv")) as file:
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            file.write(f"{word}\t{count}\n")
    described = {
        "source": settings.source or "folder",
        "origin": sources.origin(folder, settings),
        "rows": rows,
        "versions": {name: version(name) for name in ("ftfy", "spacy")},
        "word_types": len(counts),
        "documents": [{**fact, "heldout": fact["name"] in chosen} for fact in facts],
    }
    write_json(out.with_name(f"{out.name}.json"), described)
    words, size = (sum(fact[key] for fact in facts) for key in ("words", "source_bytes"))
    print(
        f"{len(facts):,} documents ({len(chosen):,} held out), {words:,} words, "
        f"{size / 1e6 / (time.monotonic() - start):.2f} MB/s",
        flush=True,
    )


def tokens(documents: Path, tokenizer: Path, out: Path, threads: int = 1) -> None:
    """Encode documents to `train.bin` and `heldout.bin` (uint16, little endian) in `out`.

    They follow one another in the order of their names; `corpus.json` says where each begins.
    Raises InputError if the vocabulary does not fit into 16 bits, or if a document is not the one
    that `<documents>.json` describes.
    """
    encoder = Tokenizer.load(tokenizer)
    if encoder.n_vocab + N_SPECIAL > np.iinfo(DTYPE).max:
        raise InputError(
            f"{tokenizer}: {encoder.n_vocab:,} tokens and {N_SPECIAL} special tokens are too many "
            f"for 16-bit token files (at most {np.iinfo(DTYPE).max:,}); train with fewer merges"
        )
    encode = functools.partial(
        _encode, encoder=encoder, folder=documents, digests=document_digests(documents)
    )
    facts: dict[str, Any] = {"tokenizer": encoder.digest, "n_vocab": encoder.n_vocab}
    splits = {}
    with _scratch(out / "tokens") as scratch:
        for split in SPLITS:
            read_split(documents, split)  # refuses what is missing or truncated
            encoded = parallel_map(
                datasets.load_from_disk(documents / split),
                encode,
                threads,
                scratch / f"{split}.arrow",
                remove_columns=["text"],
                features=datasets.Features(
                    name=datasets.Value("string"), ids=datasets.List(datasets.Value("uint16"))
                ),
                writer_batch_size=1,
            )
            splits[split] = _write_stream(encoded, out / f"{split}.bin")
    facts |= {
        "splits": splits,
        "documents": sha256_file(documents.with_name(f"{documents.name}.json")),
    }
    write_json(out / "corpus.json", facts)
    print(", ".join(f"{split} {splits[split]['tokens']:,} tokens" for split in SPLITS), flush=True)


def _encode(
    row: dict[str, str], encoder: Tokenizer, folder: Path, digests: dict[str, str]
) -> dict[str, np.ndarray]:
    """The token ids of one document, uint16 [n]."""
    check_document(folder, row["name"], row["text"].encode(), digests)
    blocks = [
        np.array(encoder.encode_words(block.replace("\n", " \n ").split(" ")), DTYPE)
        for block in normalise.cut(row["text"])
    ]
    return {"ids": np.concatenate([np.empty(0, DTYPE), *blocks])}


def _write_stream(encoded: datasets.Dataset, path: Path) -> dict[str, Any]:
    """Write the documents' tokens one after the other; returns what `corpus.json` says of them."""
    places, start = [], 0
    with write_atomic(path, "wb") as file:
        for name, ids in zip(encoded["name"], encoded.data["ids"], strict=True):
            file.write(ids.values.to_numpy().astype(DTYPE).tobytes())
            places.append({"name": name, "start": start, "tokens": len(ids)})
            start += len(ids)
    return {"file": path.name, "tokens": start, "sha256": sha256_file(path), "documents": places}


def _concatenated(shards: Sequence[Path], names: list[str]) -> datasets.Dataset:
    """The documents of all shards, which must be those of the corpus, in their order."""
    made = datasets.concatenate_datasets([datasets.load_from_disk(path) for path in shards])
    if made["name"][:] != names:
        raise InputError(
            f"--shards: {len(made):,} documents in {len(shards)} shards are not the {len(names):,} "
            "of the corpus in their order; give all shards in order, or make them again"
        )
    return made


def _n_files(documents: datasets.Dataset) -> int:
    return 1 + documents.data.nbytes // FILE_BYTES


@contextlib.contextmanager
def _scratch(out: Path, source: Path | None = None) -> Iterator[Path]:
    """An empty folder `.NAME.tmp` beside `out`; what a killed run left of it goes first."""
    if source and out.resolve().is_relative_to(source.resolve()):
        raise InputError(f"--out {out}: lies in the folder of the books; choose another place")
    scratch = out.with_name(f".{out.name}.tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _replace(new: Path, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)


def _shard(argument: str) -> tuple[int, int]:
    number, _, of = argument.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise InputError(f"--shard {argument}: expected a number and how many, such as 3/16")
    return int(number), int(of)


def main() -> None:
    parser = argparse.ArgumentParser(description="Normalise a corpus and encode it.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, description in (
        ("documents", "raw text to normalised documents and word counts"),
        ("shard", "one share of that, for `documents --shards`"),
    ):
        command = commands.add_parser(name, help=description)
        command.add_argument("--folder", type=Path, required=True, help="folder of the raw text")
        command.add_argument("--settings", type=CorpusSettings.parse, required=True, help="JSON")
        command.add_argument("--out", type=Path, required=True, help="the Arrow folder to write")
        command.add_argument("--threads", type=int, default=1)
        if name == "documents":
            command.add_argument("--shards", type=Path, nargs="*", default=[], help="their folders")
        else:
            command.add_argument("--shard", type=_shard, required=True, help="such as 3/16")
    command = commands.add_parser("tokens", help="normalised documents to token files")
    command.add_argument("--documents", type=Path, required=True, help="what `documents` wrote")
    command.add_argument("--tokenizer", type=Path, required=True, help="folder of the two files")
    command.add_argument("--out", type=Path, required=True, help="folder of the token files")
    command.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.threads < 1:
        raise InputError(f"--threads {args.threads}: at least one is needed")
    datasets.logging.set_verbosity(logging.CRITICAL)  # a fault is reported once, by `run`
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    if args.command == "shard":
        shard(args.folder, args.settings, args.out, *args.shard, args.threads)
    elif args.command == "documents":
        documents(args.folder, args.settings, args.out, args.threads, args.shards)
    else:
        tokens(args.documents, args.tokenizer, args.out, args.threads)


if __name__ == "__main__":
    sys.exit(run(main))
