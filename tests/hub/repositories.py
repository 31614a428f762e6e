"""Small repositories with invented rows for every source on the hub, built like the real ones."""

from pathlib import Path
from typing import Any

from datasets import Dataset, Features, Value

from tasks import TASKS, task
from tasks.hub import CORPORA, HubSource
from tests.hub.standin import Repositories
from tests.tasks.hub_files import PIN, features

ROWS = 12
OLDER = "89abcdef0123456789abcdef0123456789abcdef"  # of GLUE
# Beside the files of a source lie others, which are not fetched.
OTHERS = {
    "nyu-mll/glue": "other/train-00000-of-00001.parquet",
    "allenai/scitail": "tsv_format/train-00000-of-00001.parquet",
    "Salesforce/wikitext": "wikitext-103-v1/train-00000-of-00001.parquet",
    "roneneldan/TinyStories": "TinyStories-train.txt",
}


SOURCES = [
    source for source in (*(each.hub for each in (*TASKS, task("dprd"))), *CORPORA) if source.repo
]


def revision(each: HubSource) -> str:
    """The source's commit, or one that a config would have to give."""
    return each.revision or PIN


def rows(each: HubSource, split: str, group: str) -> list[dict[str, Any]]:
    """Invented rows of a split; `group` is RACE's school, as the folder of the file."""
    return [_row(each, split, group, k) for k in range(ROWS)]


def _row(each: HubSource, split: str, group: str, k: int) -> dict[str, Any]:
    row = {name: f"{split} {group} {name} {k}" for name in each.columns}
    if "idx" in row:
        row["idx"] = k
    if each.name == "race":
        row["example_id"] = f"{group}{k}.txt"
        row["options"] = [f"answer {letter} {k}" for letter in "abcd"]
    if each.name == "dprd":
        row["candidates"] = ["the cat", "the dog"]
        row["sentence"] = f"In {split} the cat saw the dog because it was {k} years old."
        row["pronoun"] = "it"
    if each.label:
        values = list(each.labels) or [x / 2 for x in range(11)]
        value = values[k % len(values)]
        row[each.label] = -1 if split in each.unlabelled else value
    return row


def _kinds(each: HubSource) -> Features:
    return features(each) if each.label else Features({"text": Value("string")})


def _put(path: Path, each: HubSource, split: str, part: int, parts: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    found = rows(each, split, path.relative_to(path.parents[1]).parts[0])
    size = -(-len(found) // parts)
    if path.suffix == ".txt":
        path.write_text("".join(f"sentence {path.name} {k}\n" for k in range(ROWS)))
    else:
        mine = found[part * size : (part + 1) * size]
        Dataset.from_list(mine, features=_kinds(each)).to_parquet(path)


def write(folder: Path) -> Repositories:
    """All repositories at their commits; files are made in `folder`."""
    made: Repositories = {}
    for each in SOURCES:
        for split, patterns in each.files.items():
            # The larger sets have more than one file a split.
            parts = 2 if each.name in ("mnli", "bookcorpus") and split == "train" else 1
            for pattern in patterns:
                for part in range(parts):
                    number = "0000" if "/*" in pattern else f"{part:05d}-of-{parts:05d}"
                    _put(
                        folder / each.name / pattern.replace("*", number), each, split, part, parts
                    )
        files = {
            path.relative_to(folder / each.name).as_posix(): path.read_bytes()
            for path in sorted((folder / each.name).rglob("*.*"))
            if path.is_file()
        }
        commit = made.setdefault(each.repo, {}).setdefault(revision(each), {})
        commit |= files
        if each.name != "lm1b":  # a branch of converted files has no card
            commit["README.md"] = f"---\nlicense: {each.licence}\n---\n".encode()
        if each.repo in OTHERS:
            commit[OTHERS[each.repo]] = b"not fetched"
    glue = made["nyu-mll/glue"]
    glue[OLDER] = next(iter(glue.values())) | {"README.md": b"an older card\n"}
    return made
