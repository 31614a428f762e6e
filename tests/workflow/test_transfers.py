"""The studies of transfers.yaml: which cells they lead to, and what they share."""

import pytest

from tests.workflow.configs import shipped
from workflow import studies
from workflow.configuration.checks import study_faults
from workflow.configuration.read import parse
from workflow.configuration.studies import FITTED, READ_LAYER, VECTORS, merge
from workflow.plan import Plan
from workflow.studies import jobs

CONFIG = merge(shipped(), shipped("transfers"))
LINES = Plan(parse(CONFIG))
GIVEN = shipped("transfers")["experiment"]["studies"]
OWN = [name for name, study in GIVEN.items() if "heading" in study]  # `lm_coef` is world.yaml's
EVERY = list(LINES.base.experiment.tasks)


def cells(study: str) -> dict[tuple[str, str], str]:
    """The line behind each title and value of a study."""
    return {point.key: point.of.name for point in LINES.plan(study).points}


@pytest.mark.parametrize("study", OWN)
def test_every_study_can_be_made_and_says_what_is_expected(study):
    assert not [*study_faults(LINES, study)]
    assert LINES.base.experiment.studies[study].expected
    assert "transfers" not in LINES.base.experiment.all


@pytest.mark.parametrize("study", OWN[:2])
def test_few_layers_are_trained_as_table_5s_fitted_network_and_word_vectors_are(study):
    for title in (FITTED, VECTORS):
        assert cells(study)[title, ""] == cells("ablation")[title, ""]
    fitted = LINES.overlays[cells("ablation")[FITTED, ""]]
    recipe = {k: of for k, of in fitted.items() if ".finetune." in k or ".tasks." in k}
    overlays = [LINES.overlays[name] for name in cells(study).values()]
    few = [own for own in overlays if own.get(READ_LAYER) == 2]
    assert few and all(recipe.items() <= own.items() for own in few)


def test_fresh_layers_have_initial_values_of_their_own_above_the_runs_language_model():
    names = (cells("words_and_circuits")[title, ""] for title in ("learned embeddings", FITTED))
    own, fitted = map(LINES.config, names)
    assert own.finetune("rte").model.init_std == fitted.finetune("rte").model.init_std == 0.1
    assert own.model("transformer") == LINES.base.model("transformer")
    assert LINES.line(cells("words_and_circuits")["learned embeddings", ""]).model == ""


def test_no_job_that_the_studies_need_trains_the_cells_of_another_study_along():
    needed = {name for study in OWN for name in cells(study).values()}
    of_lm_coef = {*cells("lm_coef").values()} - needed
    assert of_lm_coef and not [
        job for job in jobs(LINES) if {*job.lines} & needed and {*job.lines} & of_lm_coef
    ]


def test_the_lines_of_a_job_have_one_models_settings():
    for job in jobs(LINES):
        settings = [LINES.config(name).finetune(job.tasks[0]) for name in job.lines]
        assert len({of.model.to_json() for of in settings if of.needs_model}) <= 1


def test_three_ways_to_have_k_layers_are_cells_of_k_layers():
    found = cells("layers_three_ways")
    for k in (2, 4, 8):
        assert found["fresh layers above", f"{k}"] == f"n_transfer-{k}"
        assert found["none above", f"{k}"] == f"finetune.method.read_layer-{k}"
        assert found["whole models", f"{k}"] == f"model.transformer.n_layer-{k}"
    whole = {line for (_, value), line in found.items() if value == "12"}
    assert whole == {"full"} and len(found) == 5 + 5 + 4
    assert LINES.plan("layers_three_ways").values == ["0", "2", "4", "8", "12"]


def test_ten_seeds_of_fine_tuning_start_from_five_language_models_two_from_each():
    plan = LINES.plan("aux_loss")
    assert plan.seeds == [*range(10)]
    for point in plan.points:
        seeds = LINES.config(point.of.name).experiment.seeds
        assert seeds.finetune == plan.seeds and len(point.of.models()) == 5
        assert {model.variant for model in point.of.models()} == {""}


def test_of_each_task_the_skills_and_all_checkpoints_are_read():
    plan, updates = LINES.plan("which_first"), LINES.base.updates()
    assert plan.values == [str(update) for update in updates]
    assert [*plan.skills] and {*plan.skills} == {*EVERY}
    read = {path for path in studies.inputs(LINES, plan) if "/cloze/" in path}
    assert len(read) == 3 * len(updates)
