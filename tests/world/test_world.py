"""The world's files: deterministic, complete, of the sizes and shares that settings ask for."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scipy import stats

from tasks import PAPER_TASKS, task
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.world.make import make_world
from tasks.world.settings import SHARES, WorldSettings
from tasks.world.tasks import WORLD_TASKS, make_splits
from tests.support.programs import refusal

ROWS = dict.fromkeys(WORLD_TASKS, 90)
SMOKE = WorldSettings(seed=1, words=10_000, books=6, rows=ROWS, report=16, cloze=20)
MANIFEST = "09cf7b9fae94615bf8680ff9285ff4c31fe368e98277d3422efe534e917b432b"  # SMOKE's

NO_DISCOURSE = json.dumps({"discourse": dict.fromkeys(SHARES, 0)})
NO_DEGREE = '{"degrees": {"lexical": 0, "relational": 0, "compositional": 0}}'


def with_(**changes) -> WorldSettings:
    return SMOKE.model_copy(update=changes)


def corpus(world: Path) -> str:
    return "\n\n".join(p.read_text(encoding="utf-8") for p in sorted(world.glob("books/*.txt")))


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_world_of_a_seed_is_the_same_byte_for_byte_as_ever(hash_seed: str, tmp_path: Path):
    command = [sys.executable, "-m", "tasks", "world", "--settings", SMOKE.to_json()]
    environment = {"PYTHONHASHSEED": hash_seed}
    subprocess.run([*command, "--out", str(tmp_path)], check=True, env=environment)
    assert sha256_file(tmp_path / "manifest.json") == MANIFEST


def test_tasks_are_ranked_by_their_sizes_as_the_published_sets_are():
    made = [WORLD_TASKS[t.name].rows for t in PAPER_TASKS]
    published = [t.rows[t.train] for t in PAPER_TASKS]
    assert stats.spearmanr(made, published).statistic > 0.95


def test_a_seed_whose_training_words_all_take_one_article_has_rows_of_each_degree():
    rows = make_splits(with_(seed=0), "cola")["train"]
    assert {row.degree for row in rows} == {"lexical", "relational", "compositional"}


def test_another_seed_gives_other_rows_and_books(tmp_path: Path):
    one = make_world(SMOKE, tmp_path / "one")["files"]
    two = make_world(with_(seed=2), tmp_path / "two")["files"]
    same = [path for path in one if path in two and one[path] == two[path]]
    assert same == []


def test_the_manifest_lists_every_file_and_an_earlier_world_leaves_none(tmp_path: Path):
    make_world(with_(books=9), tmp_path)
    manifest = make_world(SMOKE, tmp_path)
    there = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert there == set(manifest["files"]) | {"manifest.json"}
    for path, facts in manifest["files"].items():
        assert sha256_file(tmp_path / path) == facts["sha256"]


def test_a_world_takes_the_place_of_an_earlier_one_alone(tmp_path: Path):
    """Snakemake deletes the manifest first; a killed program has moved the mark first."""
    book = tmp_path / "books" / "mine.txt"
    book.parent.mkdir()
    book.write_text("my own")
    with pytest.raises(InputError, match="exists and is no earlier output of this program"):
        make_world(SMOKE, tmp_path)
    made = tmp_path / "made"
    make_world(SMOKE, made)
    book = book.replace(made / "books" / "mine.txt")
    with pytest.raises(InputError, match="mine.txt: not of the earlier world; move it"):
        make_world(SMOKE, made)
    assert book.read_text() == "my own" and (made / "manifest.json").exists()
    (made / "manifest.json").unlink()
    with pytest.raises(InputError, match="mine.txt: not of the earlier world; move it"):
        make_world(SMOKE, made)
    book.unlink()
    make_world(with_(books=4, scale=0.02), made)
    assert len([*(made / "books").iterdir()]) == 4


def test_settings_change_sizes(tmp_path: Path):
    rows = make_world(with_(rows={"rte": 50}, scale=0.02), tmp_path)["rows"]
    assert rows["rte"]["train"] == 50
    assert rows["qqp"]["train"] == round(WORLD_TASKS["qqp"].rows * 0.02)
    assert rows["cola"]["dev"] == SMOKE.report
    assert len(list(tmp_path.glob("books/*.txt"))) == SMOKE.books
    assert len(corpus(tmp_path).split()) == pytest.approx(SMOKE.words, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (NO_DISCOURSE, "discourse: found .*above 0"),
        (NO_DEGREE, "degrees: found .*above 0"),
    ],
)
def test_a_world_without_any_discourse_or_degree_is_refused(settings: str, message: str):
    assert re.search(message, refusal(WorldSettings.parse, settings))


def test_both_layouts_of_scitail_have_the_same_rows(world: Path, splits, tmp_path: Path):
    shutil.copytree(world / "SciTail" / "tsv_format", tmp_path / "tsv_format")
    assert [(e.first, e.second, e.label) for e in task("scitail").read(tmp_path, "test")] == [
        (e.first, e.second, e.label) for e in splits("scitail")["test"]
    ]


@pytest.mark.parametrize("folder", ["CoLA", "SST-2", "MRPC", "STS-B", "QQP", "QNLI", "RTE"])
def test_glue_test_files_contain_no_labels(world: Path, folder: str):
    test = (world / folder / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert test[0].lstrip("\ufeff").split("\t")[0] in ("index", "id")
    for name in ("label", "Quality", "score", "is_duplicate", "gold_label"):
        assert name not in test[0].split("\t")
    assert len({line.count("\t") for line in test}) == 1
    assert len(test) > 1
