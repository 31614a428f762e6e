"""Examples of one task to token arrays, once for all cells that train on them.

The arrays hold the texts alone; start, delimiter and classify tokens are put between them when a
batch is made, since their order depends on the task (paper 3.3). The file is an uncompressed
`.npz` without pickles; numpy stamps no time into it, so that equal input gives equal bytes.

    python -m gpt1.encode cola --examples cola.jsonl --tokenizer tokenizer --out cola.npz
"""

import argparse
import functools
import json
import sys
from array import array
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.text.tokenizer import Tokenizer
from gpt1.training.encoded import TEXTS
from tasks import task as task_named
from tasks.common.errors import InputError, run
from tasks.common.files import sha256_file, write_atomic


def encode(task: str, examples: Path, tokenizer: Path, out: Path) -> None:
    """Encode a file of examples, one JSON object a line, and write `out`.

    Raises InputError for a line that is no example of `task`, and for a text of which the cleaning
    leaves nothing.
    """
    kind = task_named(task).kind
    scored = kind.soft_labels
    encoder = Tokenizer.load(tokenizer)
    splits: dict[str, _Columns] = {}
    # Neighbouring examples share premises and documents.
    ids_of = functools.lru_cache(maxsize=256)(encoder.encode)
    for place, example in _examples(examples, task, scored):
        columns = splits.setdefault(example["split"], _Columns(scored))
        columns.guids.append(example["guid"])
        columns.groups.append(example["group"])
        columns.labels.append(example["label"])
        for name in TEXTS:
            texts = example[name] if name == "choices" else [example[name]]
            columns.counts[name].append(len(texts))
            for text in texts:
                ids = ids_of(text)
                # A text that a task does not have is empty, and stays so; a row without a label
                # must be answered, whatever is left of it.
                if text and not ids and example["label"] != -1:
                    raise InputError(
                        f"{place}: {example['guid']}: nothing is left of {name!r} ({text[:40]!r}) "
                        "after cleaning; take the row out"
                    )
                columns.ids[name].extend(ids)
                columns.lengths[name].append(len(ids))
    if not splits:
        raise InputError(f"{examples}: no examples; prepare the task again")
    facts = {
        "kind": asdict(kind),
        "tokenizer": encoder.digest,
        "data": sha256_file(examples),
        "splits": list(splits),
    }
    arrays = {"facts": np.array(json.dumps(facts))}
    for split, columns in splits.items():
        arrays.update({f"{split}/{name}": value for name, value in columns.arrays().items()})
    with write_atomic(out, "wb") as file:
        np.savez(file, **arrays)
    print(", ".join(f"{split} {len(c.guids):,}" for split, c in splits.items()), flush=True)


class _Columns:
    """A split's examples as flat columns: all ids, the texts' lengths, texts per example."""

    def __init__(self, scored: bool) -> None:
        self.guids: list[str] = []
        self.groups: list[str] = []
        self.labels = array("d" if scored else "q")
        self.ids = {name: array("i") for name in TEXTS}
        self.lengths = {name: array("i") for name in TEXTS}
        self.counts = {name: array("i") for name in TEXTS}

    def arrays(self) -> dict[str, np.ndarray]:
        found = {"guids": np.array(self.guids), "groups": np.array(self.groups)}
        found["labels"] = np.array(self.labels)
        for name in TEXTS:
            found[f"{name}/ids"] = np.array(self.ids[name], dtype=np.int32)
            found[f"{name}/lengths"] = np.array(self.lengths[name], dtype=np.int32)
            found[f"{name}/counts"] = np.array(self.counts[name], dtype=np.int32)
        return found


def _examples(path: Path, task: str, scored: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place and example, checked."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; prepare the task first")
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            place = f"{path}: line {number}"
            try:
                example = json.loads(line)
            except ValueError as error:
                raise InputError(f"{place}: not JSON ({error}); prepare the task again") from None
            fault = _fault(example, task, scored)
            if fault:
                raise InputError(f"{place}: {fault}; prepare the task again")
            yield place, example


def _fault(example: Any, task: str, scored: bool) -> str:
    if not isinstance(example, dict):
        return "not an object"
    for key in ("split", "guid", "first", "second", "group"):
        if not isinstance(example.get(key), str):
            return f"{key!r} is {example.get(key)!r}, expected a text"
    choices = example.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        return f"'choices' is {choices!r}, expected a list of texts"
    if not example["guid"].startswith(f"{task}/"):
        return f"{example['guid']!r} is no example of {task}"
    label = example.get("label")
    if type(label) is not int and not (scored and type(label) is float):
        return f"'label' is {label!r}, expected {'a number' if scored else 'an index'}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Encode the examples of a task.")
    parser.add_argument("task")
    parser.add_argument("--examples", type=Path, required=True, help="JSON lines")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of the two files")
    parser.add_argument("--out", type=Path, required=True, help="the .npz to write")
    args = parser.parse_args()
    encode(args.task, args.examples, args.tokenizer, args.out)


if __name__ == "__main__":
    sys.exit(run(main))
