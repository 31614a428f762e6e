"""Encode the examples of one task as token ids, once for all cells that train on them.

The result holds only the texts; the start, delimiter and classify tokens are inserted when a batch
is made, since their order depends on the task (paper 3.3). `datasets.load_from_disk` opens it.

    python -m gpt1.encode cola --examples results/examples/cola --tokenizer results/tokenizer \
        --out results/encoded/cola --facts results/encoded/cola.json
"""

import argparse
import functools
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.text.tokenizer import Tokenizer
from gpt1.training import batching
from gpt1.training.encoded import COLUMNS, Role, SplitFacts, facts_path, read_encoded
from tasks import task as task_named
from tasks.common.arrow import read_split, split_digest, split_names
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, write_json
from tasks.spec import TaskSpec

Columns = dict[str, list[Any]]


def encode(task: str, examples: Path, tokenizer: Path, out: Path) -> None:
    """Encode the examples of `task` and write the folder `out` and its facts, `out`.json.

    Raises InputError for examples that are damaged or not of `task`, and for a labelled text that
    normalisation leaves empty. Nothing is written then.
    """
    spec = task_named(task).spec
    encoder = Tokenizer.load(tokenizer)
    roles, digests = _check_examples(task, examples)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as temporary:
        folder = Path(temporary, out.name)
        _map(spec, examples, roles, encoder, folder)
        splits = {}
        for split, role in roles.items():
            encoded = read_encoded(folder, split)
            splits[split] = SplitFacts(
                role=role,
                rows=len(encoded),
                sha256=split_digest(folder, split),
                examples=digests[split],
                lengths=_counts(batching.input_lengths(spec.family, encoded)),
                n_ctx_needed=_counts(batching.n_ctx_needed(spec.family, encoded)),
            ).model_dump()
        facts = facts_path(out)
        facts.unlink(missing_ok=True)  # so that facts never describe another folder
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(out)
    write_json(facts, {"spec": asdict(spec), "tokenizer": encoder.digest, "splits": splits})
    print(", ".join(f"{split} {splits[split]['rows']:,}" for split in splits), flush=True)


def _check_examples(task: str, folder: Path) -> tuple[dict[str, Role], dict[str, str]]:
    """Role and digest of every split of examples, in their order."""
    path = Path(f"{folder}.json")
    facts = read_json(path)
    if facts["task"] != task:
        raise InputError(f"{path}: examples of {facts['task']}, not {task}; give the right folder")
    roles: dict[str, Role] = {}
    digests: dict[str, str] = {}
    for split in split_names(folder):
        table = read_split(folder, split)
        digests[split] = split_digest(folder, split)
        if digests[split] != facts["sha256"].get(split):
            raise InputError(f"{folder}/{split}: not what {path} describes; prepare {task} again")
        missing = [column for column in COLUMNS if column not in table.column_names]
        if missing:
            raise InputError(f"{folder}/{split}: no column {missing[0]!r}; prepare {task} again")
        foreign = [g for g in table["guid"].to_pylist() if not g.startswith(f"{task}/")]
        if foreign:
            raise InputError(f"{folder}/{split}: {foreign[0]!r} is no example of {task}")
        named: Role = "train" if split == "train" else "select" if split == "select" else "report"
        roles[split] = "unlabelled" if split in facts["unlabelled"] else named
    return roles, digests


def _map(
    spec: TaskSpec, examples: Path, roles: dict[str, Role], encoder: Tokenizer, folder: Path
) -> None:
    """Write the encoded splits to `folder`, and their caches beside it."""
    import datasets  # takes seconds, so only once the examples are known to be good

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    ids = datasets.List(datasets.Value("int32"))
    texts = {"first": ids, "second": ids, "choices": datasets.List(ids)}
    label = datasets.Value("float64" if spec.soft_labels else "int64")
    source, encoded = datasets.load_from_disk(str(examples)), datasets.DatasetDict()
    for split, role in roles.items():
        encoded[split] = (
            source[split]
            .select_columns(list(COLUMNS))
            .map(
                _batch_encoder(encoder, f"{examples}/{split}", role != "unlabelled"),
                batched=True,
                features=datasets.Features({**source[split].features, **texts, "label": label}),
                cache_file_name=str(folder.with_name(f"{split}.arrow")),
                # Otherwise a hash of the function, tokenizer included; nothing reads it.
                new_fingerprint=f"{split}-encoded",
            )
        )
    encoded.save_to_disk(str(folder))


def _batch_encoder(encoder: Tokenizer, place: str, labelled: bool) -> Callable[[Columns], Columns]:
    """The function that encodes the texts of a batch of examples."""
    # Neighbouring examples share premises and documents.
    ids_of = functools.lru_cache(maxsize=256)(encoder.encode)

    def encode_text(text: str, guid: str, column: str) -> list[int]:
        ids = ids_of(text)
        # A text that a task does not have is empty and stays so. An unlabelled row must be
        # predicted, whatever is left of it.
        if text and not ids and labelled:
            raise InputError(
                f"{place}: {guid}: normalisation leaves nothing of {column!r} ({text[:40]!r}); "
                "remove the row"
            )
        return ids

    def encode_batch(batch: Columns) -> Columns:
        columns: Columns = {"first": [], "second": [], "choices": []}
        for i, guid in enumerate(batch["guid"]):
            for name in ("first", "second"):
                columns[name].append(encode_text(batch[name][i], guid, name))
            choices = [encode_text(text, guid, "choices") for text in batch["choices"][i]]
            columns["choices"].append(choices)
        return columns

    return encode_batch


def _counts(values: np.ndarray) -> dict[int, int]:
    """How often each value occurs."""
    unique, counts = np.unique(values, return_counts=True)
    return dict(zip(unique.tolist(), counts.tolist(), strict=True))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("--examples", type=Path, required=True, help="folder of `tasks.prepare`")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of its two files")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--facts", type=Path, required=True, help="its facts: OUT.json")
    a = parser.parse_args()
    if a.facts != facts_path(a.out):
        raise InputError(f"--facts {a.facts}: the facts of {a.out} are {facts_path(a.out)}")
    encode(a.task, a.examples, a.tokenizer, a.out)


if __name__ == "__main__":
    sys.exit(run(main))
