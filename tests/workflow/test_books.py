"""Books of a study's own: their names, what is made of them, and what cannot be."""

import re
from typing import Any

import pytest

from tasks.world.settings import SHARES
from tests.workflow.configs import ROOT, changed, complete, faults, shipped
from tests.workflow.running import command_line, planned, snakemake
from workflow import books, studies
from workflow.books import PLANTED, WITHOUT
from workflow.config_studies import Change
from workflow.configuration.read import parse
from workflow.study_faults import study_faults

WORLD = complete()
STUDIES = ("knockout", "knockout_each", "contamination")


def one_study(config: dict[str, Any] | None = None, **entry: Any) -> Any:
    """A config, the default one, with one study, `mine`, of RTE."""
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    return parse(changed(config or shipped(), "experiment.studies", {"mine": study}))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({}, ""),
        ({"without": ["remarks"]}, "without-remarks"),
        ({"without": ["remarks", "kinds"]}, "without-kinds-remarks"),
        ({"planted": [16, 1, 4]}, "planted-1-4-16"),
    ],
)
def test_equal_books_have_one_name(change, name):
    assert Change(**change).books == name
    assert not name or re.fullmatch(f"{WITHOUT}|{PLANTED}", name)
    assert books.counts("planted-1-4-16") == [1, 4, 16]


def test_the_world_is_the_runs_but_for_what_is_left_out():
    own = WORLD.experiment.world
    made = books.world(WORLD, "without-kinds-remarks")
    assert made.shares() == {**SHARES, "kinds": 0.0, "remarks": 0.0}
    assert made.model_copy(update={"discourse": own.discourse}) == own


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("without-verse", "books without-verse: discourse"),
        ("without-remarks-kinds", "their name is without-kinds-remarks; use that"),
        ("without-kinds-kinds", "their name is without-kinds; use that"),
        ("without-" + "-".join(sorted(SHARES)), "need a kind of discourse with a share above 0"),
    ],
)
def test_books_that_cannot_be_are_one_line(name, line):
    with pytest.raises(books.InputError, match=line) as caught:
        books.world(WORLD, name)
    assert "\n" not in str(caught.value)


def test_a_kind_that_the_worlds_books_do_not_have_cannot_be_left_out():
    config = parse(changed(shipped(), "experiment.world.discourse", {"reasons": 0.0}))
    with pytest.raises(books.InputError, match="have no reasons anyway; leave it out"):
        books.world(config, "without-reasons")


OF_THE_WORLD = "without and planted change the embedded world's books, which this run does not read"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"without": ["kinds"], "planted": [1]}, "are of different books; give one of them"),
        ({"without": ["kinds"], "n_transfer": "none"}, "copies nothing of what books teach"),
        ({"without": ["kinds"], "n_layer": 3}, "n_layer is of a language model that reads"),
        ({"without": ["kinds"], "block": "modern"}, "block is of a language model that reads"),
        ({"without": ["kinds"], "update": 30}, "update is of a language model that reads"),
        ({"without": list(SHARES)}, "need a kind of discourse with a share above 0"),
    ],
)
def test_a_line_whose_books_cannot_be_made_is_told_when_it_is_asked_for(change, fault):
    config = one_study(lines={"a": change})
    found = [line for line in study_faults(config, "mine") if "planted rows are" not in line]
    assert any(fault in line for line in found) and all(".lines.a: " in line for line in found[:1])


def test_other_books_than_the_worlds_are_refused_in_one_line():
    config = changed(shipped("novels"), "data", "somewhere")
    study = {"heading": "Mine", "tasks": ["rte"], "lines": {"a": {"without": ["kinds"]}}}
    made = parse(changed(config, "experiment.studies", {"mine": study}))
    assert list(study_faults(made, "mine")) == [f"experiment.studies.mine.lines.a: {OF_THE_WORLD}"]
    assert not books.are_the_worlds(made) and books.are_the_worlds(WORLD)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"lines": {"a": {"planted": [1]}}}, "give one line, with planted, and one beside"),
        (
            {"lines": {"a": {"planted": [1]}}, "beside": {"b": {}}},
            "tasks: no rows of rte are planted; give some of race, story_cloze, sst2, snli",
        ),
    ],
)
def test_a_study_of_planted_rows_has_its_own_form(entry, fault):
    assert any(fault in line for line in study_faults(one_study(**entry), "mine"))


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            {"predicted": {"full": []}},
            "predicted and beside: give a line with pre-training and one",
        ),
        ({"predicted": {"other": []}}, "predicted and lines: predict for each line"),
        (
            {"predicted": {"full": ["sst2"]}, "beside": {"a": {}, "b": {"n_transfer": "none"}}},
            "predicted.full: 'sst2' is not in tasks",
        ),
        ({"lines": {"a": {"without": ["verse"]}}}, "lines.a.without.0: "),
        ({"lines": {"a": {"planted": [0]}}}, "lines.a.planted.0: "),
        ({"lines": {"a": {"planted": [1, 1]}}}, "lines.a.planted: "),
    ],
)
def test_a_prediction_that_does_not_fit_is_one_line(entry, fault):
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    (found,) = faults(changed(shipped(), "experiment.studies", {"mine": study}))
    assert found.startswith("experiment.studies.mine") and fault in found


@pytest.mark.parametrize("name", ["knockout", "knockout_each"])
def test_each_task_is_predicted_to_be_lost_with_one_line_and_kept_with_the_others(name):
    study = WORLD.experiment.studies[name]
    predicted = [task for tasks in study.predicted.values() for task in tasks]
    assert sorted(predicted) == sorted(study.tasks) == sorted(WORLD.experiment.tasks)
    left_out = [kind for change in study.lines.values() for kind in change.without]
    assert sorted(left_out) == sorted(SHARES)


def test_the_halves_predict_what_their_kinds_do():
    halves, each = (WORLD.experiment.studies[name] for name in ("knockout", "knockout_each"))
    by_kind = {change.without[0]: each.predicted[line] for line, change in each.lines.items()}
    for line, change in halves.lines.items():
        expected = [task for kind in change.without for task in by_kind[kind]]
        assert sorted(halves.predicted[line]) == sorted(expected)


@pytest.mark.parametrize("name", STUDIES)
def test_the_cells_of_other_books_lie_below_their_folder(name):
    plan = studies.plan(WORLD, name)
    grid = set(WORLD.grid().cells())
    for point in plan.points:
        change = {**WORLD.experiment.studies[name].lines, **WORLD.experiment.studies[name].beside}
        assert point.books == change[point.line].books
        assert set(point.cells) <= grid  # below the results of their books, as the run's are
        folder = f"results/books/{point.books}" if point.books else "results"
        assert point.folder("results").as_posix() == folder
        assert point.place(point.cells[0]).startswith("books/" if point.books else "transformer/")


@pytest.mark.parametrize(
    ("seeds", "models"),
    [
        ({"pretrain": [4, 7], "finetune": [0, 1, 2]}, [4, 7]),
        ({"pretrain": [4, 7], "finetune": [0]}, [4]),  # no cell starts from the other
    ],
)
def test_books_are_read_by_models_of_the_seeds_of_the_runs_own(seeds, models):
    config = parse(changed(shipped(), "experiment.seeds", seeds))
    cell = WORLD.grid().full_transformer()[0]
    assert books.models(config, "transformer") == studies.sources(config, cell)
    assert [model.seed for model in books.models(config, "transformer")] == models
    files = books.files(config, studies.plan(config, "knockout"))
    assert len(files) == 3 * len(models) and f"probes/transformer/seed-{models[0]}/" in files[0]


def plan(tmp_path, study: str, *options: str, results: str = "results") -> dict[str, int]:
    options = ("--directory", str(tmp_path), *options)
    return planned(ROOT, *options, "--", f"{results}/studies/{study}.csv")


def test_a_knockout_plans_books_models_probes_and_cells_of_its_own(tmp_path):
    found = plan(tmp_path, "knockout")
    made = ("world_without", "books_documents", "books_tokens", "pretrain_books", "probes_books")
    models = {"pretrain_books", "probes_books"}  # of each of the two seeds, as the run's own are
    assert {rule: found[rule] for rule in made} == {rule: 2 + 2 * (rule in models) for rule in made}
    assert (found["finetune_books"], found["finetune_transformer_endpoints"]) == (24, 12)
    assert found["pretrain"] == 2 and "zero_shot" not in found


def test_a_study_of_planted_rows_plans_its_models_and_the_search_of_its_books(tmp_path):
    found = plan(tmp_path, "contamination")
    made = ("world_planted", "books_documents", "books_tokens", "contamination_books")
    assert {rule: found[rule] for rule in made} == dict.fromkeys(made, 1)
    assert found["pretrain_books"] == found["pretrain"] == 2  # of the same seeds
    assert found["finetune_books"] == 4 and "probes_books" not in found


@pytest.mark.parametrize("study", ["knockout", "contamination"])
def test_the_smoke_config_has_both(tmp_path, study):
    config = str(ROOT / "workflow" / "config" / "smoke.yaml")
    found = plan(tmp_path, study, "--configfile", config, results="results/smoke")
    assert found["pretrain_books"] == 1 and found["finetune_books"] == {"knockout": 3}.get(study, 2)


def test_the_programs_are_given_the_books(tmp_path):
    cell = "cells/transformer/rte/aux-on/layers-12.json"
    target = f"results/books/without-kinds-remarks/{cell}"
    said = snakemake(ROOT, "--directory", str(tmp_path), "-n", "--printshellcmds", target)
    folder = "results/books/without-kinds-remarks"
    assert f"--out {folder}/world" in said and '"kinds": 0.0, "remarks": 0.0' in said
    assert f"gpt1.corpus documents --folder {folder}/world/books" in said
    models = [f"{folder}/pretrain/transformer/seed-{k}/update-3000.safetensors" for k in (0, 1)]
    assert f"--checkpoints {' '.join(models)} " in said
    assert said.count("python -m gpt1.text.tokenizer train") == 1


def test_a_cell_of_a_model_that_such_books_do_not_have_has_no_rule(tmp_path):
    cell = "cells/transformer+block-modern/rte/aux-on/layers-12.json"
    target = f"results/books/without-kinds/{cell}"
    said = command_line(ROOT, "-n", "-d", str(tmp_path), target, code=1)
    assert "MissingRuleException" in said and "pretrain" not in said


def test_unknown_books_end_in_one_line(tmp_path):
    target = "results/books/without-verse/world/manifest.json"
    said = command_line(ROOT, "-n", "-d", str(tmp_path), target, code=1)
    assert said.splitlines()[-1].startswith("error: books without-verse: ")
    assert "Traceback" not in said
