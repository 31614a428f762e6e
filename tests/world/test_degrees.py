"""The degrees of difficulty: their shares, and that degrees.csv says what each row is."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from tasks import PAPER_TASKS, Example, task
from tasks.world.settings import WorldSettings
from tests.world.oracle_rules import LIKES, mood, work
from tests.world.parser import NAME, read, tokens
from workflow.analysis.stats.degrees import place, read_degrees

DEGREES = ("lexical", "relational", "compositional")


def table(world: Path) -> dict[tuple[str, str], list[str]]:
    """The degrees of the rows of each task and split, in the order of their files."""
    found: dict[tuple[str, str], list[str]] = {}
    with (world / "degrees.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            degrees = found.setdefault((row["task"], row["split"]), [])
            assert int(row["row"]) == len(degrees)
            degrees.append(row["degree"])
    return found


def degree_of(name: str, e: Example) -> str:
    """The degree that a row's texts show; "" where they do not."""
    if name in ("snli", "mnli"):
        claim = read(e.second)
        return DEGREES[0 if claim.state else 2 if claim.negated else 1]
    if name == "rte":
        return DEGREES[0 if read(e.second).state else 2 if " and " in e.first else 1]
    if name == "qnli":
        return "lexical" if e.first.startswith("Why ") else ""
    if name == "scitail":
        return DEGREES[{"can": 0, "are": 1}.get(tokens(e.second)[1], 2)]
    if name == "sst2":
        return DEGREES[_degree_of_remark(e.first)]
    if name == "story_cloze":
        told = set(tokens(e.first))
        return DEGREES[2 if told & set(LIKES) else 1 if len(told & set(NAME)) == 2 else 0]
    if name == "cola":
        words = set(tokens(e.first))
        if words & {"himself", "herself"}:
            return "relational"
        return "compositional" if "not" in words else ""
    if name in ("mrpc", "stsb"):
        opinions = mood(e.second) is not None or bool(work(e.first) and work(e.second))
        return DEGREES[0 if opinions else 2 if read(e.second).passive else 1]
    if name == "qqp":
        if mood(e.second) is not None:
            return "lexical"
        return "compositional" if read(e.first).asks != read(e.second).asks else ""
    return ""


def _degree_of_remark(text: str) -> int:
    words = tokens(text)
    return 1 if "," in words else 2 if set(words) & {"not", "hardly", "far", "means"} else 0


def test_each_degree_has_its_configured_share(world: Path, settings: WorldSettings):
    shares = settings.degrees.shares()
    for (name, _), degrees in table(world).items():
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
    known = 0
    for split, examples in splits(name).items():
        degrees = table(world)[name, split]
        if name == "snli":
            path = world / "SNLI" / f"snli_1.0_{split}.jsonl"
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            assert len(lines) == len(degrees) and {"-"} < {line["gold_label"] for line in lines}
            gold = zip(degrees, lines, strict=True)
            degrees = [degree for degree, line in gold if line["gold_label"] != "-"]
        for degree, example in zip(degrees, examples, strict=True):
            shown = degree_of(name, example)
            assert shown in ("", degree), (split, example)
            known += bool(shown)
    assert known or name == "race"


def test_race_asks_for_a_kind_of_answer_first_and_then_for_the_right_one(splits, world: Path):
    """By degree: how many answers stand in the passage."""
    wanted = {"lexical": 4, "relational": 1, "compositional": 2}
    for split in task("race").report:
        for degree, e in zip(_race_degrees(world, split), splits("race")[split], strict=True):
            told = tokens(e.first)
            assert sum(tokens(choice)[-1] in told for choice in e.choices) == wanted[degree], e


def _race_degrees(world: Path, split: str) -> list[str]:
    """The degrees in the order in which the reader takes the files."""
    degrees = table(world)["race", split]
    paths = sorted((world / "RACE" / split).glob("*/*.txt"))
    return [degrees[int(path.stem)] for path in paths]


def test_a_row_of_predictions_is_the_row_of_that_number_in_the_world(world: Path):
    rows = read_degrees(world / "degrees.csv")
    known = {of: degree for degree, places in rows.items() for of in places}
    checked = set()
    for kind in PAPER_TASKS:
        for split in kind.report:
            for example in kind.read(world / kind.folder, split):
                degree, shown = known[place(example.guid)], degree_of(kind.name, example)
                assert shown in ("", degree), example.guid
                checked.add(kind.name)
    assert len(checked) == 12
