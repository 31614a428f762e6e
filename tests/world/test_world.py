"""The world's files: deterministic, whole, and books that give no labelled row away."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tasks import TASKS, task
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.world.__main__ import check_settings, make_world
from tasks.world.books import fingerprints, plain

SMOKE = {"seed": 1, "words": 20_000, "books": 6, "scale": 0.1, "report": 16}
NAMES = [t.name for t in TASKS] + ["dprd"]


def corpus(world: Path) -> str:
    return "\n\n".join(p.read_text(encoding="utf-8") for p in sorted(world.glob("books/*.txt")))


def test_equal_settings_give_equal_bytes_whatever_the_hash_seed(tmp_path: Path):
    told = []
    for seed in ("0", "1"):
        out = tmp_path / seed
        command = [sys.executable, "-m", "tasks.world", "--settings", json.dumps(SMOKE)]
        subprocess.run(
            [*command, "--out", str(out)], check=True, env={"PYTHONHASHSEED": seed}, timeout=60
        )
        told.append((out / "manifest.json").read_bytes())
    assert told[0] == told[1]


def test_another_seed_gives_other_rows_and_books(tmp_path: Path):
    one = make_world(SMOKE, tmp_path / "one")["files"]
    two = make_world(SMOKE | {"seed": 2}, tmp_path / "two")["files"]
    same = [path for path in one if path in two and one[path] == two[path]]
    assert same == []


def test_the_manifest_lists_every_file_and_an_older_world_leaves_none(tmp_path: Path):
    make_world(SMOKE | {"books": 9}, tmp_path)
    manifest = make_world(SMOKE, tmp_path)
    there = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert there == set(manifest["files"]) | {"manifest.json"}
    for path, facts in manifest["files"].items():
        assert sha256_file(tmp_path / path) == facts["sha256"]


def test_settings_change_sizes(tmp_path: Path):
    rows = make_world(SMOKE | {"rows": {"rte": 50}}, tmp_path)["rows"]
    assert rows["rte"]["train"] == 50
    assert rows["qqp"]["train"] == 48
    assert rows["cola"]["dev"] == 16
    assert len(list(tmp_path.glob("books/*.txt"))) == 6
    assert len(corpus(tmp_path).split()) == pytest.approx(20_000, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"word": 1}, "unknown key 'word'"),
        ({"words": 0}, "words is 0"),
        ({"books": 2.5}, "books is 2.5"),
        ({"seed": "a"}, "seed is 'a'"),
        ({"scale": -1}, "scale is -1"),
        ({"rows": {"imdb": 10}}, "rows.imdb"),
        ({"rows": {"rte": 1}}, "rows.rte is 1"),
        ([], "an object is needed"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(settings, told: str):
    with pytest.raises(InputError, match=told) as error:
        check_settings(settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_no_labelled_text_stands_in_a_book(world: Path, name: str):
    kind = task(name)
    written = set(fingerprints(corpus(world)))
    for split in kind.rows:
        for e in kind.read(world / kind.folder, split):
            if name == "race":
                texts = e.first.split(".")
            elif name == "dprd":
                texts = [f"{e.first} {choice} {e.second}" for choice in e.choices]
            else:
                texts = [e.first, e.second]
            assert written.isdisjoint(plain(text) for text in texts if text.strip(" .")), e


@pytest.mark.parametrize("name", [t.name for t in TASKS])
def test_reported_rows_hold_words_of_the_books_that_no_training_row_has(world: Path, name: str):
    kind = task(name)

    def words(split: str) -> list[set[str]]:
        return [
            set(plain(" ".join((e.first, e.second, *e.choices))).split())
            for e in kind.read(world / kind.folder, split)
        ]

    known = set().union(*words(kind.train))
    written = set(plain(corpus(world)).split())
    for split in kind.report:
        rows = words(split)
        fresh = set().union(*rows) - known
        assert fresh <= written
        # Half of the words that carry the meaning are new: of most rows at least one.
        assert sum(bool(row & fresh) for row in rows) > 0.6 * len(rows)


def test_the_books_hold_every_word_of_the_labelled_texts_several_times(world: Path):
    written = Counter(plain(corpus(world)).split())
    for name in NAMES:
        kind = task(name)
        for split in kind.rows:
            for e in kind.read(world / kind.folder, split):
                for word in plain(" ".join((e.first, e.second, *e.choices))).split():
                    assert written[word] >= 3, (name, word)


def test_books_have_titles_chapters_paragraphs_and_speech(world: Path):
    text = (world / "books" / "book002.txt").read_text(encoding="utf-8")
    assert "Chapter One\n\n" in text and "Chapter Two\n\n" in text
    assert '?"' in text and text.count("\n\n") > 50
    assert all(p[0].isupper() or p[0] == '"' or p.startswith("by ") for p in text.split("\n\n"))
    assert len(set(plain(corpus(world)).split())) < 700


def test_texts_stay_short_enough_for_a_small_context(world: Path):
    limits = {"race": 70, "story_cloze": 45}
    for name in NAMES:
        kind = task(name)
        for split in kind.rows:
            for e in kind.read(world / kind.folder, split):
                longest = max([len(c.split()) for c in e.choices] or [0])
                assert len(f"{e.first} {e.second}".split()) + longest <= limits.get(name, 30)


def test_snli_has_rows_without_a_gold_label(world: Path):
    lines = (world / "SNLI" / "snli_1.0_test.jsonl").read_text(encoding="utf-8").splitlines()
    gold = [json.loads(line)["gold_label"] for line in lines]
    assert 0 < gold.count("-") < len(gold) / 20


def test_both_forms_of_scitail_say_the_same(world: Path, tmp_path: Path):
    kind = task("scitail")
    one = kind.read(world / "SciTail", "test")
    (tmp_path / "tsv_format").symlink_to(world / "SciTail" / "tsv_format")
    assert [(e.first, e.second, e.label) for e in kind.read(tmp_path, "test")] == [
        (e.first, e.second, e.label) for e in one
    ]


@pytest.mark.parametrize("folder", ["CoLA", "SST-2", "MRPC", "STS-B", "QQP", "QNLI", "RTE"])
def test_glue_test_files_hold_no_labels(world: Path, folder: str):
    train = (world / folder / "dev.tsv").read_text(encoding="utf-8").splitlines()
    test = (world / folder / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert test[0].lstrip("\ufeff").split("\t")[0] in ("index", "id")
    for name in ("label", "Quality", "score", "is_duplicate", "gold_label"):
        assert name not in test[0].split("\t")
    assert len({line.count("\t") for line in test}) == 1
    assert len(test) > 1 and len(train) > 1
