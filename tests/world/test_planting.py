"""Planted rows stand in the trained books exactly as often as is said, and no others do."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks.common.files import write_json
from tasks.examples import Example, read
from tasks.world import planting
from tests.gpt1.examples import write_examples

COUNTS = [1, 3]
BOOKS = {
    name: "\n\n".join((f"Tales of {name}", "by Ruth", "Chapter One", *map(str, range(9)))) + "\n"
    for name in ("a.txt", "b.txt", "held.txt")
}
SPLITS = {
    "sst2": {
        split: [{"first": f"the {split} play {i} was fine .", "label": i % 2} for i in range(12)]
        for split in ("train", "select", "dev")
    },
    "race": {
        split: [
            {
                **{"first": f"Tom saw {split} {i}.", "second": "Who saw?", "label": i % 4},
                "choices": [f"Tom {i}.", f"Ruth {i}.", f"Jack {i}.", f"Jane {i}."],
            }
            for i in range(12)
        ]
        for split in ("train", "select", "test", "dev")
    },
}


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("results")
    for name, text in BOOKS.items():
        (root / "books").mkdir(exist_ok=True)
        (root / "books" / name).write_text(text, encoding="utf-8")
    documents = [{"name": name, "heldout": name == "held.txt"} for name in BOOKS]
    write_json(root / "documents.json", {"documents": documents})
    for name, splits in SPLITS.items():
        write_examples(root / "examples" / name, name, splits)
    return root


def planted(root: Path, out: Path, names=("race", "sst2"), counts=COUNTS) -> dict:
    folders = (root / "books", root / "documents.json", root / "examples")
    return planting.make_books(list(names), list(counts), *folders, out)


def blocks(folder: Path, name: str) -> list[str]:
    return (folder / "books" / name).read_text(encoding="utf-8").removesuffix("\n").split("\n\n")


@pytest.fixture(scope="module")
def made(root, tmp_path_factory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("planted")
    return planted(root, out), out


def test_a_planted_row_stands_in_the_trained_books_as_often_as_is_said(root, made):
    manifest, out = made
    found = Counter(blocks(out, "a.txt") + blocks(out, "b.txt"))
    for name, of in manifest["planted"].items():
        rows = read(root / "examples" / name, of["split"])
        times = {place: count for count, places in of["rows"].items() for place in places}
        assert len(times) == 2 * len(of["rows"][1]) == 8
        for place, row in enumerate(rows):
            assert found[planting.paragraph(name, row)] == times.get(place, 0)


def test_rows_of_no_other_split_stand_in_the_books(root, made):
    manifest, out = made
    found = set().union(*(blocks(out, name) for name in BOOKS))
    for name, of in manifest["planted"].items():
        assert of["split"] == {"race": "test", "sst2": "dev"}[name]
        for split in SPLITS[name].keys() - {of["split"]}:
            rows = read(root / "examples" / name, split)
            assert found.isdisjoint(planting.paragraph(name, row) for row in rows)


def test_all_else_in_the_books_stays_and_held_out_books_stay_whole(root, made):
    manifest, out = made
    copies = {
        planting.paragraph(name, row)
        for name, of in manifest["planted"].items()
        for row in read(root / "examples" / name, of["split"])
    }
    for name, text in BOOKS.items():
        left = [block for block in blocks(out, name) if block not in copies]
        assert "\n\n".join(left) + "\n" == text
        assert blocks(out, name)[:3] == [f"Tales of {name}", "by Ruth", "Chapter One"]
    assert (out / "books" / "held.txt").read_text(encoding="utf-8") == BOOKS["held.txt"]
    stored = json.loads((out / "manifest.json").read_text())
    assert stored["counts"] == COUNTS and set(stored["planted"]) == {"race", "sst2"}


def test_the_same_rows_are_planted_at_the_same_places_each_time(root, made, tmp_path):
    assert planted(root, tmp_path) == made[0]
    assert all(blocks(tmp_path, name) == blocks(made[1], name) for name in BOOKS)


@pytest.mark.parametrize(
    ("name", "row", "text"),
    [
        (
            "sst2",
            Example("1", "the play was fine .", "", (), 1),
            "the play was fine . Very positive.",
        ),
        (
            "race",
            Example("1", "Tom ran.", "Who ran?", ("Jane.", "Tom.", "Ruth.", "Adam."), 1),
            "Tom ran. Who ran? Tom.",
        ),
        ("snli", Example("1", "The cook runs.", "He sleeps.", (), 2), "The cook runs. He sleeps."),
    ],
)
def test_a_row_is_planted_with_the_answer_that_books_give(name, row, text):
    assert planting.paragraph(name, row) == text


def test_as_many_rows_are_left_as_are_planted_once():
    rows = [Example(str(i), "a", "b", (), 0) for i in range(1000)]
    chosen = planting.choose("snli", "test", rows, [1, 4, 16, 32])
    places = [place for of in chosen.values() for place in of]
    assert {len(of) for of in chosen.values()} == {planting.ROWS} and len(set(places)) == 160
    assert {len(of) for of in planting.choose("snli", "test", rows[:24], [1, 4]).values()} == {8}


def test_too_few_rows_to_plant_are_one_line(root, tmp_path):
    with pytest.raises(planting.InputError, match="race: 12 rows of test are too few for 19 c"):
        planted(root, tmp_path / "out", ["race"], range(1, 20))
    assert not (tmp_path / "out").exists()
