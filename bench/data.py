"""The rows of the benchmarks: real ones where their folder is given, else the embedded world's.

The suite's own programs make them: a small part of the default run's graph for the world, and
`tasks.prepare` and `gpt1.encode` for published files. Made rows have the lengths of real ones.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.job import Rows
from bench.rows import corpus_tokens, drawn_lengths, texts
from bench.sides import ROOT
from gpt1.special_tokens import SpecialTokens
from gpt1.text.tokens import DTYPE
from gpt1.training import batching
from gpt1.training.encoded import EncodedSplit, load
from tasks import task as task_named
from tasks.common.errors import InputError
from tasks.common.files import sha256_file, write_json

REAL = ("rte", "mrpc", "cola")
PUBLISHED_VOCABULARY = 40_478
N_ROWS = 256
# Tokens of the two texts in published rows (of training; of MNLI's dev set) under the published
# vocabulary: the smallest, the deciles and the largest.
LENGTHS = {
    "rte": (
        [5, 20, 26, 31, 35, 40, 46, 57, 92, 122, 279],
        [3, 7, 8, 9, 10, 11, 12, 13, 15, 19, 46],
    ),
    "mrpc": (
        [7, 16, 19, 21, 23, 25, 27, 28, 30, 33, 47],
        [9, 16, 19, 21, 23, 25, 26, 28, 31, 33, 46],
    ),
    "mnli": ([1, 7, 10, 13, 16, 20, 24, 28, 34, 42, 139], [3, 6, 8, 9, 10, 11, 12, 14, 15, 18, 43]),
    "cola": ([3, 5, 6, 7, 8, 8, 9, 10, 12, 14, 28], [0] * 11),
}
RACE = {"first": 300, "second": 12, "choices": 8, "n": 4}
STORY_CLOZE = {"first": 46, "second": 0, "choices": 10, "n": 2}


def run(*words: object) -> str:
    """What a program of the suite says. Raises InputError with the last line if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["nothing was said"]
        raise InputError(f"{words[0]}: {said[-1]}; call it by hand to see more")
    return done.stdout


def make_world(folder: Path) -> Path:
    """The default world's corpus, its RTE and a checkpoint below `folder`; returns it.

    What is there already is not made again.
    """
    names = ("corpus/corpus.json", "encoded/rte", "baselines/rte.json")
    files = [f"{folder}/{name}" for name in names]
    files.append(f"{folder}/pretrain/transformer/seed-0/update-1.safetensors")
    once = json.dumps({"pretrain": {"updates": 1, "warmup": 0, "checkpoints": 1}})
    config = ["--config", f"results={folder}", f"experiment={once}"]
    run("snakemake", *files, "--cores", "all", "--quiet", "all", *config)
    return folder


def glue_rows(data: Path | None, world: Path, out: Path, n_ctx: int) -> list[Rows]:
    """Rows of RTE, MRPC and CoLA: published ones under `data`, else of the world in their lengths.

    Raises InputError if the folder lacks a task or the published vocabulary.
    """
    if data is None:
        tokens = corpus_tokens(f"{world}/corpus/corpus.json")
        return [made_pairs(name, tokens, n_ctx, out) for name in REAL]
    vocabulary = (data / "openai_bpe").resolve()
    found = []
    for name in REAL:
        folder = (data / task_named(name).folder).resolve()
        for needed in (folder, vocabulary):
            if not needed.is_dir():
                raise InputError(
                    f"{needed}: no such folder; give --data one with it, or leave it out"
                )
        examples, encoded = out / "examples" / name, out / "encoded" / name
        limits = json.dumps({"limit_train": 2 * N_ROWS, "limit_report": 8})
        run("tasks.prepare", name, "--folder", folder, "--settings", limits,
            "--out", examples, "--facts", f"{examples}.json")  # fmt: skip
        run("gpt1.encode", name, "--examples", examples, "--tokenizer", vocabulary,
            "--out", encoded)  # fmt: skip
        found.append(_write(load(encoded), n_ctx, PUBLISHED_VOCABULARY, out))
    return found


def made_pairs(name: str, tokens: np.ndarray, n_ctx: int, out: Path, n: int = N_ROWS) -> Rows:
    """`n` rows of a task's family and lengths, their texts from a corpus."""
    random, spec = np.random.default_rng(0), task_named(name).spec
    first, second = (drawn_lengths(d, n, random) for d in LENGTHS[name])
    split = _split(texts(tokens, first, random), texts(tokens, second, random), [[]] * n)
    labels = random.integers(0, spec.n_labels, n)
    return _save(name, spec.family, spec.n_labels, split, labels, n_ctx, PUBLISHED_VOCABULARY, out)


def made_choices(
    name: str, shape: dict[str, int], tokens: np.ndarray, n_ctx: int, n_vocab: int, out: Path
) -> Rows:
    """Multiple-choice rows whose texts have as many tokens as `shape` says."""
    random, n = np.random.default_rng(0), N_ROWS // 4

    def of(length: int, rows: int = n) -> list[np.ndarray]:
        return texts(tokens, np.full(rows, length), random)

    choices = [of(shape["choices"], shape["n"]) for _ in range(n)]
    split = _split(of(shape["first"]), of(shape["second"]), choices)
    labels = random.integers(0, shape["n"], n)
    given = (name, "multiple_choice", shape["n"], split, labels, n_ctx, n_vocab, out)
    return _save(*given, with_texts=True)


def full_rows(n: int, time: int, tokens: np.ndarray, n_vocab: int, out: Path) -> Rows:
    """`n` classification rows of exactly `time` tokens."""
    random = np.random.default_rng(0)
    split = _split(texts(tokens, np.full(n, time - 2), random), [np.empty(0, int)] * n, [[]] * n)
    labels = random.integers(0, 2, n)
    return _save("full", "classification", 2, split, labels, time, n_vocab, out)


def made_corpus(folder: Path, n_vocab: int, n: int) -> Path:
    """A corpus of `n` tokens drawn from Zipf's law; returns its `corpus.json`."""
    random = np.random.default_rng(0)
    tokens = (random.zipf(1.2, n) % n_vocab).astype(DTYPE)
    folder.mkdir(parents=True, exist_ok=True)
    splits = {}
    for name, part in (("train", tokens), ("heldout", tokens[: n // 10])):
        part.tofile(folder / f"{name}.bin")
        digest = sha256_file(folder / f"{name}.bin")
        splits[name] = {"file": f"{name}.bin", "tokens": len(part), "sha256": digest}
    facts = {"tokenizer": "", "corpus": "books", "n_vocab": n_vocab, "splits": splits}
    write_json(folder / "corpus.json", facts)
    return folder / "corpus.json"


def _split(first: list, second: list, choices: list) -> EncodedSplit:
    empty = [""] * len(first)
    return EncodedSplit(empty, empty, np.zeros(len(first), np.int64), first, second, choices)


def _write(encoded, n_ctx: int, n_vocab: int, out: Path) -> Rows:
    """Some training rows of an encoded task."""
    spec, train = encoded.spec, encoded.splits["train"]
    train = train.take(batching.sample(len(train), N_ROWS))
    labels = np.asarray(train.labels)
    return _save(spec.name, spec.family, spec.n_labels, train, labels, n_ctx, n_vocab, out)


def _save(
    name: str,
    family: str,
    n_labels: int,
    split: EncodedSplit,
    labels: np.ndarray,
    n_ctx: int,
    n_vocab: int,
    out: Path,
    with_texts: bool = False,  # which are all of one length, for scoring
) -> Rows:
    rows = batching.build(family, split, SpecialTokens.after(n_vocab), n_ctx)
    out.mkdir(parents=True, exist_ok=True)
    arrays = {"ids": rows.ids, "lengths": rows.lengths, "labels": labels}
    if with_texts:
        arrays |= {key: np.array(getattr(split, key)) for key in ("first", "second", "choices")}
    path = out / f"{name}.npz"
    np.savez(path, **arrays)
    return Rows(str(path), name, family, n_labels)
