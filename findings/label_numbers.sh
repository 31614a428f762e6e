#!/usr/bin/env bash
# datasets 5.2.0: splits whose labels are numbered in another order are read by the first one's names.
#
# Who meets it: anyone who saves splits, or parts of one, as Parquet at different times or from
# different sources, and reads them together: SNLI's and MNLI's lists of labels often differ.
# A good guess: each file stores its labels' names, so they are read by name, or the difference is
# refused as in concatenate_datasets.
# Seen: the names of the first file are taken for all, the numbers are kept: each "contradiction" of
# the test split is read as "entailment". No warning. And class_encode_column of a DatasetDict numbers
# each split by the labels that occur there, so where a split lacks one, the same number means two.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0 pyarrow==26.0.1
cd "$folder"
HF_HUB_OFFLINE=1 HF_HOME="$folder/home" venv/bin/python - <<'PYTHON'
import datasets
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

assert datasets.__version__ == "5.2.0"
datasets.disable_progress_bars()
LABELS = ["contradiction", "neutral", "entailment"]


def named(rows):
    """The labels of a data set in words."""
    return rows.features["label"].int2str(rows["label"][:])


for split, names in {"train": LABELS[::-1], "test": LABELS}.items():
    features = Features({"text": Value("string"), "label": ClassLabel(names=names)})
    numbers = [names.index(label) for label in LABELS]
    rows = Dataset.from_dict({"text": ["a", "b", "c"], "label": numbers}, features=features)
    assert named(rows) == LABELS
    rows.to_parquet(f"{split}.parquet")
files = {split: f"{split}.parquet" for split in ("train", "test")}
read = datasets.load_dataset("parquet", data_files=files, cache_dir="cache")
parts = datasets.load_dataset(
    "parquet", data_files=[*files.values()], split="train", cache_dir="parts"
)
print("written, in each split:", *LABELS)
print("read, train:", *named(read["train"]))
print("read, test:", *named(read["test"]))
print("read as one split:", *named(parts))
assert named(read["train"]) == LABELS
assert named(read["test"]) == named(parts)[3:] == LABELS[::-1], "labels are read by name now"

words = {"train": LABELS, "test": LABELS[1:]}
words = DatasetDict({s: Dataset.from_dict({"label": labels}) for s, labels in words.items()})
encoded = words.class_encode_column("label")
numbers = {s: rows.features["label"].str2int("neutral") for s, rows in encoded.items()}
print("class_encode_column: neutral is", numbers)
assert numbers == {"train": 2, "test": 1}, "all splits have the same numbers now"
PYTHON
