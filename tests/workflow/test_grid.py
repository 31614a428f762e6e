"""The run's cells, how they are cut into jobs, checkpoints, and the studies of transfers.yaml."""

from collections import Counter

import pytest

from gpt1.cell import UNCHANGED, Cell, PretrainedModel
from tests.workflow.configs import changed, complete, full, shipped, small
from workflow import studies
from workflow.configuration.read import parse
from workflow.configuration.sections import Pretrain
from workflow.configuration.studies import FITTED_TITLE, READ_LAYER, VECTORS_TITLE, merge
from workflow.grid import Grid, StudyPlan
from workflow.plan import Plan
from workflow.studies import jobs, study_faults

WORDS = "experiment.studies.ablation.lines.Transformer w/ aux LM, shuffled words"


def test_the_papers_grid_has_360_transformer_and_72_lstm_cells():
    grid = Plan(complete("paper")).grid()
    archs = Counter(grid.variant(cell).arch for cell in grid.cells())
    assert archs == {"transformer": 360, "lstm": 72}
    paths = {str(cell.path("results")) for cell in grid.cells()}
    last = "results/cells/arch-lstm+finetune.lm_coef-0+n_transfer-none/rte.json"
    assert len(paths) == 432 and last in paths


@pytest.mark.parametrize("corpus", ["sentences-shuffled", "permuted-embeddings"])
def test_a_control_is_the_fully_transferred_transformer_with_the_auxiliary_loss(corpus):
    grid = Plan(parse(full())).grid()
    (variant,) = (of for of in grid.variants.values() if of.corpus == corpus)
    assert (variant.arch, variant.aux, variant.n_transfer) == ("transformer", "on", 12)
    assert variant.is_control
    assert [cell.task for cell in grid.cells() if cell.variant == variant.name] == grid.tasks
    assert not {cell.variant for cell in grid.full_transformer()} & {variant.name}
    assert grid.find(corpus=corpus) == variant and variant not in grid.of_books


def test_a_line_that_changes_something_else_takes_no_place_of_the_papers():
    own = {"mine": {"finetune.epochs": 3}, "more": {"finetune.lm_coef": 0.25}}
    grid = Plan(parse(changed(shipped(), "experiment.studies.ablation.lines", own))).grid()
    assert not grid.variants["finetune.epochs-3"].plain
    assert not grid.variants["finetune.lm_coef-0.25"].plain
    assert grid.find().name == UNCHANGED and len(grid.full_transformer()) == 2 * 12


def test_the_curve_of_layers_has_the_points_of_its_study_alone():
    own = {"three": {"n_transfer": 3}, "LSTM, embeddings alone": {"arch": "lstm", "n_transfer": 0}}
    grid = Plan(parse(changed(shipped(), "experiment.studies.ablation.lines", own))).grid()
    assert {3, 0} < {variant.n_transfer for variant in grid.of_books}
    assert grid.sweep("transformer", "on") == ["none", 0, 4, 8, 12]
    assert grid.sweep("lstm", "on") == [1]


def test_table_5_keeps_its_cells_whatever_the_order_of_the_studies():
    config = changed(shipped(), "experiment.all", ["layer_transfer", "ablation"])
    first, second = (Plan(parse(of)) for of in (shipped(), config))
    assert [*jobs(first)] == [*jobs(second)]


def test_tables_2_to_4_have_only_the_models_of_table_5():
    line = "experiment.studies.ablation.lines.Transformer w/o aux LM"
    grid = Plan(parse(changed(shipped(), line, None))).grid()
    assert grid.find(aux="off") and grid.aux == ["on"]
    assert {cell.variant for cell in grid.full_transformer()} == {UNCHANGED}


def test_the_seeds_of_figure_2_alone_are_pooled_only_where_table_5_lacks_the_architecture():
    config = changed(shipped(), "experiment.studies.layer_transfer.lines", {"LSTM w/ aux LM": {}})
    config["experiment"]["studies"]["layer_transfer"]["values"] = ["none", 0, 1]
    table_5 = config["experiment"]["studies"]["ablation"]["lines"]
    lstms = dict.fromkeys(["LSTM w/ aux LM", "LSTM w/o aux LM"])
    without = changed(config, "experiment.studies.ablation.lines", table_5 | lstms)
    pooled = [
        {cell.variant for cell in grid.cells() if grid.is_pooled(cell)}
        for grid in (Plan(parse(of)).grid() for of in (config, without))
    ]
    none = {"arch-lstm+n_transfer-none", "arch-lstm+finetune.lm_coef-0+n_transfer-none"}
    assert pooled[1] == pooled[0] | none and not none & pooled[0] and "arch-lstm" in pooled[0]


def test_a_job_starts_from_every_model_that_a_seed_of_it_needs():
    config = changed(full(), "experiment.seeds", {"pretrain": [5, 6, 7], "finetune": [0, 1]})
    of_one = {"pretrain.shuffled": "words", "seeds.pretrain": [9]}
    lines = Plan(parse(changed(config, WORDS, of_one)))
    sources = {}
    for job in jobs(lines):
        models = [lines.variant(name).models() for name in job.variants]
        assert all(of == models[0] for of in models)
        sources |= dict(zip(job.variants, models, strict=True))
    assert sources["arch-lstm"] == [PretrainedModel("lstm", 5), PretrainedModel("lstm", 6)]
    model = PretrainedModel("transformer", 6, "pretrain.shuffled-sentences")
    assert sources["pretrain.shuffled-sentences"][1] == model
    folder = "results/variants/pretrain.shuffled-sentences/pretrain/transformer/seed-6"
    assert str(model.checkpoint("results", 8)) == f"{folder}/update-8.safetensors"
    (one,) = sources["pretrain.shuffled-words+seeds.pretrain-9"]
    assert one == PretrainedModel("transformer", 9, "pretrain.shuffled-words")
    permuted = sources["finetune.embeddings-permuted"][0]
    assert permuted == PretrainedModel("transformer", 5, permuted=True)


@pytest.mark.parametrize("shards", [1, 3, 40])
def test_however_the_jobs_are_cut_every_cell_is_made_once_and_one_that_is_kept_alone(shards):
    lines = Plan(parse(changed(shipped("smoke"), "runtime.shards", shards)))
    found = list(jobs(lines))
    made = [Cell(name, task) for job in found for name in job.variants for task in job.tasks]
    studies = lines.base.experiment.studies
    every = {cell for study in studies for cell in lines.study(study).cells()}
    assert len(made) == len({*made}) and {*made} == every
    assert len({job.name for job in found}) == len(found)
    kept = [(job.name, job.variants, job.tasks) for job in found if job.is_kept]
    assert kept == [("finetune_kept_full_rte", (UNCHANGED,), ("rte",))]


@pytest.mark.parametrize(
    ("n", "shards", "expected"),
    [(5, 2, [(1, 2), (3, 4, 5)]), (1, 4, [(1,)])],
)
def test_shards_are_neighbours_of_even_size(n, shards, expected):
    values = {"values": [*range(1, n + 1)], "lines": {"Transformer w/o aux LM": None}}
    config = changed(shipped(), "experiment.studies.layer_transfer", values)
    found = jobs(Plan(parse(changed(config, "runtime.shards", shards))))
    cut = [job.variants for job in found if job.name.startswith("finetune_layer_transfer_tr")]
    assert [tuple(int(line[-1]) for line in lines) for lines in cut] == expected


@pytest.mark.parametrize(
    ("updates", "n", "expected"),
    [
        (3000, 9, [0, 30, 53, 95, 169, 300, 533, 949, 1687, 3000]),
        (1_000_000, 3, [0, 10_000, 100_000, 1_000_000]),
        (5, 1, [0, 5]),
        (3, 9, [0, 1, 2, 3]),
        (1, 2, [0, 1]),
    ],
)
def test_checkpoints_are_log_spaced_from_one_percent_to_the_last_update(updates, n, expected):
    assert Pretrain(updates=updates, checkpoints=n).with_checkpoint == expected


def test_what_has_an_order_keeps_it_in_what_programs_are_given():
    config = merge(small(), shipped("transfers"))
    config = changed(config, "experiment.tasks", {"sst2": {}, "rte": {}, "cola": {}})
    config["experiment"]["zero_shot"] = {}
    skills = {"sst2": ["opinion"], "cola": ["reflexive", "agreement"]}
    config["experiment"]["studies"]["which_first"] |= {"skills": skills}
    lines = Plan(parse(config))
    grid, plan = lines.grid(), lines.study("which_first")
    given = Grid.parse(grid.to_json())
    assert [*given.zero_shot.normalise] == ["sst2", "rte", "cola", "dprd"] == given.zero_shot.tasks
    assert [*given.studies] == ["ablation", "layer_transfer"] and [*given.variants] == [
        *grid.variants
    ]
    assert [*StudyPlan.parse(plan.to_json()).skills] == ["sst2", "cola"]


def test_unlabelled_rows_are_those_of_all_glue_tasks():
    glue = ["mnli", "qnli", "rte", "mrpc", "qqp", "stsb", "sst2", "cola"]
    assert complete("smoke").unlabelled() == glue and complete().unlabelled() == []


CONFIG = merge(shipped(), shipped("transfers"))
LINES = Plan(parse(CONFIG))
GIVEN = shipped("transfers")["experiment"]["studies"]
OWN = [name for name, study in GIVEN.items() if "heading" in study]  # `lm_coef` is world.yaml's
EVERY = list(LINES.base.experiment.tasks)


def cells(study: str) -> dict[tuple[str, str], str]:
    """The line behind each title and value of a study."""
    return {point.key: point.variant.name for point in LINES.study(study).points}


@pytest.mark.parametrize("study", OWN)
def test_every_study_can_be_made_and_says_what_is_expected(study):
    assert not [*study_faults(LINES, study)]
    assert LINES.base.experiment.studies[study].expected
    assert "transfers" not in LINES.base.experiment.all


@pytest.mark.parametrize("study", OWN[:2])
def test_few_layers_are_trained_as_table_5s_fitted_network_and_word_vectors_are(study):
    for title in (FITTED_TITLE, VECTORS_TITLE):
        assert cells(study)[title, ""] == cells("ablation")[title, ""]
    fitted = LINES.overlays[cells("ablation")[FITTED_TITLE, ""]]
    recipe = {k: of for k, of in fitted.items() if ".finetune." in k or ".tasks." in k}
    overlays = [LINES.overlays[name] for name in cells(study).values()]
    few = [own for own in overlays if own.get(READ_LAYER) == 2]
    assert few and all(recipe.items() <= own.items() for own in few)


def test_fresh_layers_have_initial_values_of_their_own_above_the_runs_language_model():
    names = (
        cells("words_and_circuits")[title, ""] for title in ("learned embeddings", FITTED_TITLE)
    )
    own, fitted = map(LINES.config, names)
    assert own.finetune("rte").model.init_std == fitted.finetune("rte").model.init_std == 0.1
    assert own.model("transformer") == LINES.base.model("transformer")
    assert LINES.variant(cells("words_and_circuits")["learned embeddings", ""]).model == UNCHANGED


def test_no_job_that_the_studies_need_trains_the_cells_of_another_study_along():
    needed = {name for study in OWN for name in cells(study).values()}
    of_lm_coef = {*cells("lm_coef").values()} - needed
    assert of_lm_coef and not [
        job for job in jobs(LINES) if {*job.variants} & needed and {*job.variants} & of_lm_coef
    ]


def test_the_lines_of_a_job_have_one_models_settings():
    for job in jobs(LINES):
        settings = [LINES.config(name).finetune(job.tasks[0]) for name in job.variants]
        assert len({of.model.to_json() for of in settings if of.needs_model}) <= 1


def test_three_ways_to_have_k_layers_are_cells_of_k_layers():
    found = cells("layers_three_ways")
    for k in (2, 4, 8):
        assert found["fresh layers above", f"{k}"] == f"n_transfer-{k}"
        assert found["none above", f"{k}"] == f"finetune.method.read_layer-{k}"
        assert found["whole models", f"{k}"] == f"model.transformer.n_layer-{k}"
    whole = {line for (_, value), line in found.items() if value == "12"}
    assert whole == {"full"} and len(found) == 5 + 5 + 4
    assert LINES.study("layers_three_ways").values == ["0", "2", "4", "8", "12"]


def test_ten_seeds_of_fine_tuning_start_from_five_language_models_two_from_each():
    plan = LINES.study("aux_loss")
    assert plan.seeds == [*range(10)]
    for point in plan.points:
        seeds = LINES.config(point.variant.name).experiment.seeds
        assert seeds.finetune == plan.seeds and len(point.variant.models()) == 5
        assert {model.variant for model in point.variant.models()} == {UNCHANGED}


def test_of_each_task_the_skills_and_all_checkpoints_are_read():
    plan, updates = LINES.study("which_first"), LINES.base.updates()
    assert plan.values == [str(update) for update in updates]
    assert [*plan.skills] and {*plan.skills} == {*EVERY}
    read = {path for path in studies.inputs(LINES, plan) if "/cloze/" in path}
    assert len(read) == 5 * len(updates)
