"""Examples and corpora as other programs write them, and a small tokenizer to encode them with."""

from pathlib import Path

import datasets
import pyarrow
from pyarrow import parquet

from gpt1.text.vocabulary import save as save_vocabulary
from tasks import task
from tasks.common.arrow import split_digest
from tasks.common.files import sha256_file, write_json
from tests.facts import DOCUMENTS, EXAMPLES

CHARACTERS = "abcdefghij"


def write_examples(folder, name, splits, unlabelled=()):
    """Save rows (dictionaries without guids) by split as a DatasetDict and its facts."""
    datasets.disable_progress_bars()
    own, text = task(name), datasets.Value("string")
    label = datasets.ClassLabel(names=list(own.labels))
    features = datasets.Features(
        {
            **{"guid": text, "first": text, "second": text, "choices": datasets.List(text)},
            "label": datasets.Value("float64") if own.soft_labels else label,
            "group": text,
        }
    )
    empty = {"first": "", "second": "", "choices": [], "label": 0, "group": ""}
    written = datasets.DatasetDict()
    for split, rows in splits.items():
        rows = [{**empty, "guid": f"{name}/{split}/{i}", **row} for i, row in enumerate(rows)]
        columns = {key: [row[key] for row in rows] for key in features}
        written[split] = datasets.Dataset.from_dict(columns, features=features)
    written.save_to_disk(str(folder))
    digests = {split: split_digest(folder, split) for split in splits}
    facts = {"task": name, "unlabelled": list(unlabelled), "sha256": digests}
    write_json(f"{folder}.json", EXAMPLES | facts)
    return folder


def write_tokenizer(folder, characters=CHARACTERS):
    """A vocabulary of characters, by default ten letters, without merges; returns its size."""
    base = ["<unk>", *characters, *(c + "</w>" for c in characters), "\n</w>"]
    save_vocabulary(folder, base, [])
    return len(base)


def write_parquet(path: Path, rows: list, group: int = 2, column: str = "text") -> None:
    """A parquet file of one column, with row groups of `group` rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.table({column: rows}), path, row_group_size=group)


def write_words(folder: Path, text: str) -> Path:
    """Word counts and the facts beside them; returns the folder of the documents they are of."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.tsv").write_text(text, encoding="utf-8")
    digest = sha256_file(folder / "words.tsv")
    write_json(folder / "documents.json", {**DOCUMENTS, "words_sha256": digest})
    return folder / "documents"
