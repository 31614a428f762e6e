"""The degrees of difficulty: their shares, and that degrees.csv says what each row is."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from tasks import PAPER_TASKS, task
from tasks.world.degrees import place, read_degrees
from tasks.world.settings import WorldSettings
from tests.world.oracle import degree as degree_of


def table(world: Path) -> dict[tuple[str, str], list[str]]:
    """The degrees of the rows of each task and split, in the order of their files."""
    found: dict[tuple[str, str], list[str]] = {}
    with (world / "degrees.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            degrees = found.setdefault((row["task"], row["split"]), [])
            assert int(row["row"]) == len(degrees)
            degrees.append(row["degree"])
    return found


def test_each_degree_has_its_configured_share_of_training_and_of_other_rows(
    world: Path, settings: WorldSettings
):
    for (name, split), degrees in table(world).items():
        of = settings.degrees if split == task(name).train else settings.reported
        shares = of.shares()
        counts = Counter(degrees)
        if name == "dprd":
            assert set(counts) == {"lexical"}
            continue
        for degree, share in shares.items():
            wanted = share / sum(shares.values())
            # Each label's rows are divided by themselves, and rounded.
            assert counts[degree] / len(degrees) == pytest.approx(
                wanted, abs=0.01 + 4 / len(degrees)
            )


def test_degrees_csv_agrees_with_the_texts_row_by_row(world: Path, splits, name: str):
    for split, examples in splits(name).items():
        degrees = table(world)[name, split]
        if name == "race":  # the reader takes the files in the order of their names
            paths = sorted((world / "RACE" / split).glob("*/*.txt"))
            degrees = [degrees[int(path.stem)] for path in paths]
        if name == "snli":
            path = world / "SNLI" / f"snli_1.0_{split}.jsonl"
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            assert len(lines) == len(degrees) and {"-"} < {line["gold_label"] for line in lines}
            gold = zip(degrees, lines, strict=True)
            degrees = [degree for degree, line in gold if line["gold_label"] != "-"]
        for degree, example in zip(degrees, examples, strict=True):
            assert degree_of(name, example) == degree, (split, example)


def test_a_row_of_predictions_is_the_row_of_that_number_in_the_world(world: Path):
    rows = read_degrees(world / "degrees.csv")
    known = {of: degree for degree, places in rows.items() for of in places}
    checked = set()
    for kind in PAPER_TASKS:
        for split in kind.report:
            for example in kind.read(world / kind.folder, split):
                assert known[place(example.guid)] == degree_of(kind.name, example), example.guid
                checked.add(kind.name)
    assert len(checked) == 12
