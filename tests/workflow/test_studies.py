"""Studies: their cells, which they share with the grid and each other, and what is refused."""

import re
from typing import Any

import pytest

from gpt1.cell import Cell
from gpt1.settings import MODERN_ADAMW
from gpt1.variant import Variant
from tests.workflow.configs import ROOT, changed, complete, faults, shipped, small
from tests.workflow.running import command_line, planned, snakemake, write
from workflow import studies
from workflow.analysis.flops import per_token
from workflow.config_studies import Change
from workflow.configuration.read import parse
from workflow.study_faults import study_faults
from workflow.study_plan import StudyPlan

WORLD = complete()
MODERN = Variant(block="modern")
NAMES = list(WORLD.experiment.studies)
NEW = {  # cells that the default grid does not have
    "lm_coef": 4 * 4,
    "train_size": 2 * 4 * 4,
    "pretraining_length": 8 * 3,
    "transfer_from_top": 3 * 4,
    "layer_left_out": 7 * 4,
    "probing": 13 * 4,
    "discriminative": 4 * 4,
    "decay": 5 * 4,
    "schedule": 3 * 4,
    "lstm_size": 2 * 4,
    "prompted": 9 * 12,
    **dict.fromkeys(("knockout", "knockout_each", "contamination"), 0),  # test_books has theirs
    "multi_task": 2 * 5,
    "today": 5 * 4,
}


def one_study(**entry: Any) -> Any:
    """The default config with one study, `mine`, of RTE."""
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    return parse(changed(shipped(), "experiment.studies", {"mine": study}))


@pytest.mark.parametrize("name", ["world", "smoke", "novels"])
def test_every_shipped_study_says_in_a_sentence_what_it_asks(name):
    asked = [study.asks for study in complete(name).experiment.studies.values()]
    assert asked and len(set(asked)) == len(asked)
    assert all(60 < len(text) < 200 and text.endswith(".") and "\n" not in text for text in asked)


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_study_can_be_made_and_adds_few_cells_to_the_grids(name):
    assert list(study_faults(WORLD, name)) == []
    plan, grid = studies.plan(WORLD, name), set(WORLD.grid().cells())
    new = [cell for cell in plan.cells() if cell not in grid]
    assert len(new) == NEW[name] and all(cell.variant for cell in new)
    assert len(plan.points) == len({(p.line, p.value) for p in plan.points})
    assert all([cell.task for cell in point.cells] == plan.tasks for point in plan.points)
    assert StudyPlan.parse(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, Cell("transformer", "rte", "on", 12)),
        ({"lm_coef": 0.5}, Cell("transformer", "rte", "on", 12)),
        ({"lm_coef": 0}, Cell("transformer", "rte", "off", 12)),
        ({"train_share": 1}, Cell("transformer", "rte", "on", 12)),
        ({"update": 3000, "lr": 1e-3, "epochs": 3}, Cell("transformer", "rte", "on", 12)),
        ({"read_layer": 12, "left_out": "none"}, Cell("transformer", "rte", "on", 12)),
        ({"transfer": "highest", "n_transfer": 0}, Cell("transformer", "rte", "on", 0)),
        ({"transfer": "highest"}, Cell("transformer", "rte", "on", 12)),
        ({"update": 0, "n_transfer": "none"}, Cell("transformer", "rte", "on", "none")),
        ({"arch": "lstm", "n_hidden": 192, "n_layer": 1}, Cell("lstm", "rte", "on", 1)),
        ({"lm_coef": 2}, Cell("transformer", "rte", "on", 12, variant="lm_coef-2")),
        ({"l2": 0.01}, Cell("transformer", "rte", "on", 12)),
        ({"l2": 0, "decay": "adamw"}, Cell("transformer", "rte", "on", 12, variant="l2-0")),
        (
            {"l2": 0.1, "block": "modern"},
            Cell("transformer", "rte", "on", 12, variant="block-modern"),
        ),
        (
            {"transfer": "highest", "n_transfer": 3},
            Cell("transformer", "rte", "on", 3, variant="transfer-highest"),
        ),
        (
            {"together": ["snli", "rte"], "epochs": 3},
            Cell("transformer", "rte", "on", 12, variant="epochs-3+together-rte.snli"),
        ),
        (
            {"block": "modern", "decay": "adamw"},
            Cell("transformer", "rte", "on", 12, variant="block-modern"),
        ),
        (
            {"arch": "lstm", "n_layer": 2, "update": 0},
            Cell("lstm", "rte", "on", 2, variant="n_layer-2+update-0"),
        ),
    ],
)
def test_a_change_that_is_none_is_the_grids_own_cell_and_another_names_itself(change, expected):
    assert studies.cell(WORLD, Change(**change), "rte") == expected


def test_a_tasks_own_settings_decide_what_a_change_is():
    config = parse(changed(shipped(), "experiment.tasks.rte", {"lm_coef": 0.25, "epochs": 5}))
    assert studies.cell(config, Change(lm_coef=0.25, epochs=5), "rte").variant == ""
    assert studies.cell(config, Change(lm_coef=0.5), "rte").variant == "lm_coef-0.5"


GIVEN = {
    **{"n_layer": 3, "n_hidden": 7, "update": 30, "lm_coef": 0.3, "lr": 0.01, "epochs": 7},
    **{"train_share": 0.5, "transfer": "highest", "left_out": 2, "read_layer": 1, "frozen": True},
    **{"layer_decay": 0.9, "gradual_unfreezing": True, "decay": "l2", "schedule": "cosine"},
    "prompted": True,
    "l2": 0.5,
    "block": "modern",
    "together": ["mnli", "rte"],
}


@pytest.mark.parametrize("key", Variant.model_fields)
def test_every_key_of_a_change_reaches_the_program(key):
    arch = "lstm" if key == "n_hidden" else "transformer"
    aux = "off" if key in ("frozen", "prompted") else "on"
    change = Change(arch=arch, n_transfer=1, aux=aux, **{key: GIVEN[key]})
    cell = studies.cell(WORLD, change, "rte")
    settings = studies.settings(WORLD, [cell]).tasks[cell.task]
    if key == "update":
        assert studies.checkpoint_update(WORLD, cell) == GIVEN[key]
    elif key in ("prompted", "together"):  # by which the rules tell the program
        assert cell.variant == {"prompted": "prompted-true", "together": "together-mnli.rte"}[key]
    elif key in ("n_layer", "n_hidden", "block"):
        assert getattr(settings.model.shape, key) == GIVEN[key]
        (model, _), name = studies.sources(WORLD, cell), f"{key}-{GIVEN[key]}"
        assert model.name == f"{arch}+{name}"
        own = WORLD.pretrain(arch, 0, Variant.named(name))
        assert own.model == settings.model
    else:
        holder = settings if key in ("lm_coef", "lr", "epochs") else settings.method
        holder = settings.optimizer if key == "l2" else holder
        assert getattr(holder, key) == GIVEN[key]
    plain = studies.settings(WORLD, [Cell(arch, "rte", aux, 1)]).tasks["rte"]
    assert key in ("update", "prompted", "together") or plain != settings


def test_what_is_trained_on_its_task_alone_from_the_runs_books_can_be_kept():
    lines = {
        "own": {"lr": 0.1},
        "asked": {"prompted": True, "aux": "off"},
        "together": {"together": ["rte", "snli"], "lr": 0.2},
        "books": {"without": ["reasons"], "lr": 0.3},
    }
    assert [cell.variant for cell in studies.keepable(one_study(lines=lines))] == ["lr-0.1"]


def test_seeds_pair_with_the_same_language_models_as_in_the_grid():
    cell = studies.cell(WORLD, Change(lm_coef=1), "rte")
    assert [(m.name, m.seed) for m in studies.sources(WORLD, cell)] == [
        ("transformer", 0),
        ("transformer", 1),
    ]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"axis": "lr"}, "axis and values: one without the other"),
        ({"axis": "colour", "values": [1]}, "axis: 'colour' is no key of a change"),
        ({"axis": "lm_coef", "values": ["much"]}, "values: lm_coef: found 'much'"),
        ({"axis": "lr", "values": [0.1], "lines": {"a": {"lr": 0.2}}}, "lines.a.lr is the axis"),
        ({"beside": {"full": {}}}, "lines and beside: both have 'full'"),
        ({"lines": {"a": {"lm_cof": 1}}}, "lines.a.lm_cof: unknown key; did you mean lm_coef?"),
        ({"lines": {"a": {"train_share": 2}}}, "lines.a.train_share: 2 is invalid"),
        ({"lines": {"a": {"together": ["rte"]}}}, "lines.a.together: ['rte'] is invalid"),
        ({"axis": "lr", "values": [0.1, 0.1]}, "values: [0.1, 0.1] is invalid"),
    ],
)
def test_a_study_that_says_nothing_is_one_line(entry, fault):
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    (found,) = faults(changed(shipped(), "experiment.studies", {"mine": study}))
    assert found.startswith("experiment.studies.mine") and fault in found


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ({"n_transfer": 13}, "n_transfer 13, but the model has 12 layers; give at most 12"),
        ({"read_layer": 13}, "read_layer 13, but the model has 12 layers; give at most 12"),
        ({"left_out": 13}, "left_out 13, but the model has 12 layers; give at most 12"),
        ({"update": 31}, "update 31 has no checkpoint; give one of 0, 30,"),
        ({"n_hidden": 9}, "n_hidden is the LSTM's; remove it, or give arch: lstm"),
        ({"arch": "lstm", "read_layer": 1}, "read_layer is the transformer's; remove it"),
        ({"frozen": True}, 'a frozen model has no auxiliary loss; give aux: "off"'),
        ({"aux": "off", "lm_coef": 1}, 'lm_coef 1 has no effect with aux "off"; remove one'),
        ({"prompted": True}, 'prompted trains and copies nothing; give aux: "off"'),
        ({"arch": "lstm", "block": "modern"}, "block is the transformer's; remove it"),
        (
            {"together": ["mnli", "snli"]},
            "together leaves out rte; add it, or remove it from the study's tasks",
        ),
        ({"together": ["dprd", "rte"]}, "together: dprd is not in experiment.tasks; add it there"),
        (
            {"together": ["rte", "snli"], "without": ["reasons"]},
            "together trains from the run's own books; remove without and planted",
        ),
        (
            {"together": ["rte", "snli"], "layer_decay": 0.5},
            "together has one rate for all layers; remove layer_decay and",
        ),
    ],
)
def test_a_study_whose_cells_cannot_be_made_is_told_when_it_is_asked_for(lines, fault):
    config = one_study(lines={"a": lines})
    (found,) = study_faults(config, "mine")
    assert found.startswith(f"experiment.studies.mine.lines.a: {fault}")


def test_a_study_of_a_task_or_architecture_that_is_not_run_is_told_when_it_is_asked_for():
    config = small()
    config["experiment"]["grid"]["arch"] = ["transformer"]
    assert list(study_faults(parse(config), "lm_coef")) == [
        f"experiment.studies.lm_coef.tasks: {task} is not in experiment.tasks; add it there, or "
        "remove it"
        for task in ("sst2", "qnli")
    ]
    assert (
        "lstm is not in experiment.grid.arch" in list(study_faults(parse(config), "lstm_size"))[2]
    )


def test_the_two_lstms_have_the_transformers_parameters_and_flops():
    study = WORLD.experiment.studies["lstm_size"].lines
    transformer = WORLD.model("transformer")
    n_vocab, time = 1500, transformer.n_ctx

    def parameters(change):
        shape = WORLD.model("lstm", change).shape
        h, e = shape.n_hidden, shape.n_embd
        return 4 * h * (e + h) + 8 * h + h * e + e

    shape = transformer.shape
    block = 12 * shape.n_embd**2 + 13 * shape.n_embd
    assert shape.n_ff == 4 * shape.n_embd
    ours = shape.n_layer * block + transformer.n_ctx * shape.n_embd
    assert parameters(study["LSTM, equal parameters"]) == pytest.approx(ours, rel=5e-3)
    flops = per_token(WORLD.model("lstm", study["LSTM, equal FLOPs"]), n_vocab, time)
    assert flops == pytest.approx(per_token(transformer, n_vocab, time), rel=5e-3)


def test_modern_blocks_cost_as_much_as_gpt1s_but_for_the_positions_of_its_softmax():
    for name, closely in (("world", 1e-2), ("paper", 1e-2), ("smoke", 3e-2)):
        config = complete(name)
        gpt1, modern = config.model("transformer"), config.model("transformer", MODERN)
        flops = [per_token(model, 1500, gpt1.n_ctx) for model in (gpt1, modern)]
        assert flops[1] == pytest.approx(flops[0], rel=closely) and flops[1] < flops[0]
        only_tokens = gpt1.model_copy(update={"lm_softmax": "tokens_only"})
        assert flops[1] == pytest.approx(per_token(only_tokens, 1500, gpt1.n_ctx), rel=5e-3)


def test_modern_blocks_are_trained_by_adamw_at_both_stages_and_gpt1s_are_not():
    own = WORLD.finetune("transformer", "rte", "on", MODERN)
    assert own.method.decay == "adamw" and own.optimizer == MODERN_ADAMW
    assert WORLD.pretrain("transformer", 0, MODERN).optimizer == MODERN_ADAMW
    plain = WORLD.finetune("transformer", "rte", "on")
    assert plain.method.decay == "authors" and plain.optimizer == WORLD.experiment.optimizer
    assert Variant(block="modern", decay="l2").method.decay == "l2"
    heavier = WORLD.finetune("transformer", "rte", "on", Variant(block="modern", l2=3))
    assert heavier.optimizer == MODERN_ADAMW.model_copy(update={"l2": 3})


def plan(tmp_path, name: str) -> dict[str, int]:
    return planned(ROOT, "--directory", str(tmp_path), f"results/studies/{name}.csv")


def test_a_study_plans_its_cells_and_those_of_the_grid_that_it_shares(tmp_path):
    found = plan(tmp_path, "lm_coef")
    cells = {rule: n for rule, n in found.items() if rule.startswith(("finetune", "pretrain"))}
    assert cells == {**{"finetune_variant": 16, "finetune_transformer_endpoints": 8, "pretrain": 2}}
    assert found["study"] == 1 and "zero_shot" not in found and "table_cells" not in found


def test_a_study_of_other_sizes_pre_trains_its_own_models(tmp_path):
    found = plan(tmp_path, "lstm_size")
    assert (found["pretrain"], found["pretrain_variant"], found["finetune_variant"]) == (4, 4, 8)


@pytest.mark.parametrize("name", ["multi_task", "today"])
def test_studies_whose_intervals_are_wider_than_the_scale_are_drawn_as_differences(name):
    assert studies.plan(WORLD, name).figure == "differences"


def test_a_study_of_modern_blocks_pre_trains_two_models_and_shares_the_grids_cells(tmp_path):
    found = plan(tmp_path, "today")
    assert (found["pretrain"], found["pretrain_variant"], found["finetune_variant"]) == (2, 2, 20)
    assert found["finetune_transformer_endpoints"] == 8


def test_one_job_trains_all_tasks_at_once_for_each_number_of_layers(tmp_path):
    found = plan(tmp_path, "multi_task")
    together = {rule: n for rule, n in found.items() if rule.startswith("finetune_together")}
    assert together == {"finetune_together_1": 1, "finetune_together_2": 1}
    assert "finetune_variant" not in found and found["finetune_transformer_endpoints"] == 5
    cell = "results/cells/transformer+together-mnli.qnli.rte.scitail.snli/rte/aux-on/layers-12.json"
    said = snakemake(ROOT, "--directory", str(tmp_path), "--dry-run", "--printshellcmds", cell)
    assert "python -m gpt1.finetune results/cells" in said and '"snli": {' in said
    assert "results/pretrain/transformer/seed-1/update-3000.safetensors" in said


def test_tasks_of_different_learning_rates_are_not_trained_together_unless_one_is_given():
    config = changed(shipped(), "experiment.tasks.rte", {"lr": {"transformer": 0.5}})
    lines = {"a": {"together": ["rte", "snli"]}, "b": {"together": ["rte", "snli"], "lr": 0.1}}
    mine = {"heading": "Mine", "tasks": ["rte"], "lines": lines}
    found = parse(changed(config, "experiment.studies", {"mine": mine}))
    (fault,) = study_faults(found, "mine")
    assert fault == (
        "experiment.studies.mine.lines.a: the tasks that are trained together have different "
        "learning rates; give lr"
    )
    assert studies.together(found) == []


def test_a_study_of_checkpoints_asks_for_their_zero_shot_scores(tmp_path):
    found = plan(tmp_path, "pretraining_length")
    assert (found["zero_shot"], found["finetune_variant"]) == (2, 24)


def test_the_cell_of_a_variant_can_be_asked_for_without_a_study(tmp_path):
    cell = "results/cells/transformer+lr-0.002+update-30/rte/aux-off/layers-12.json"
    said = snakemake(ROOT, "--directory", str(tmp_path), "--dry-run", "--printshellcmds", cell)
    assert "results/pretrain/transformer/seed-1/update-30.safetensors" in said
    assert '"lr": 0.002' in said and "finetune transformer+lr-0.002+update-30 on rte" in said


def test_a_weight_of_0_is_a_weight():
    assert WORLD.finetune("transformer", "rte", "on", Variant(lm_coef=0)).lm_coef == 0


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        (
            "transformer+lm_coef-0/rte/aux-on/layers-12",
            "this cell is cells/transformer/rte/aux-off",
        ),
        (
            "transformer+lm_coef-0.5/rte/aux-on/layers-12",
            "this cell is cells/transformer/rte/aux-on",
        ),
        (
            "transformer+decay-l2/rte/aux-on/layers-012",
            "this cell is cells/transformer+decay-l2/rte",
        ),
        ("transformer+transfer-highest/rte/aux-on/layers-0", "this cell is cells/transformer/rte/"),
        ("transformer+lm_coef-2/rte/aux-off/layers-12", 'lm_coef 2 has no effect with aux "off"'),
        ("transformer+frozen-true/rte/aux-on/layers-12", "a frozen model has no auxiliary loss"),
        (
            "transformer+left_out-13/rte/aux-on/layers-12",
            "left_out 13, but the model has 12 layers",
        ),
        ("transformer+l2-0/rte/aux-on/layers-13", "n_transfer 13, but the model has 12 layers"),
        ("lstm+read_layer-3/rte/aux-on/layers-1", "read_layer 3, but the model has 1 layers"),
        ("transformer+n_hidden-100/rte/aux-on/layers-12", "n_hidden is the LSTM's; remove it"),
        ("transformer+lr-0.1/dprd/aux-on/layers-12", "dprd is not in experiment.tasks; add it"),
    ],
)
def test_a_cells_path_is_checked_as_a_study_is_and_has_one_name(place, fault):
    with pytest.raises(
        SystemExit, match=f"error: cells/{re.escape(place)}.json: {re.escape(fault)}"
    ):
        studies.cell_at(WORLD, f"cells/{place}.json")


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_of_a_study_can_be_asked_for_by_its_path(name):
    for cell in studies.plan(WORLD, name).cells():
        if "together" not in cell.variant:
            assert studies.cell_at(WORLD, cell.path("").as_posix()) == cell


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("transformer+n_hidden-100", "n_hidden is the LSTM's"),
        ("transformer+lr-0.1", "this model is transformer; use that"),
        ("transformer+lr-0.1+n_layer-3", "this model is transformer+n_layer-3; use that"),
        ("transformer+n_layer-12", "this model is transformer; use that"),
    ],
)
def test_a_language_models_path_has_one_name(name, fault):
    arch, _, variant = name.partition("+")
    with pytest.raises(SystemExit, match=f"error: {re.escape(name)}: {re.escape(fault)}"):
        studies.pretrain_settings(WORLD, arch, "0", variant)
    own = studies.pretrain_settings(WORLD, "lstm", "1", "n_hidden-263")
    assert own.model.shape.n_hidden == 263 and own.seed == 1


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        (
            "results/cells/transformer+frozen-true/rte/aux-on/layers-12.json",
            "error: cells/transformer+frozen-true/rte/aux-on/layers-12.json: a frozen model has ",
        ),
        (
            "results/studies/bogus.csv",
            "error: config: experiment.studies.bogus: no such study; known here: lm_coef, ",
        ),
        (
            "results/cells/transformer+lr-fast/rte/aux-on/layers-12.json",
            "error: variant lr-fast: lr: found 'fast'; ",
        ),
    ],
)
def test_what_cannot_be_asked_for_ends_in_one_line(target, fault, tmp_path):
    said = command_line(ROOT, "-n", "-d", str(tmp_path), target, code=1)
    assert said.splitlines()[-1].startswith(fault) and "Traceback" not in said


def test_a_study_that_the_config_cannot_make_ends_in_a_line_for_each_fault(tmp_path):
    config = write(tmp_path / "small.yaml", small())
    options = ("-n", "-d", str(tmp_path), "--configfile", config, "--")
    said = command_line(ROOT, *options, "results/studies/lm_coef.csv", code=1)
    lines = [line for line in said.splitlines() if line.startswith("error")]
    assert len(lines) == 2 and "Traceback" not in said


def test_a_prompted_study_trains_nothing_but_the_language_models(tmp_path):
    found = plan(tmp_path, "prompted")
    assert found["finetune_variant"] == 108 and found["pretrain"] == 2
    assert not [rule for rule in found if rule.startswith("finetune")]


def test_a_name_that_is_no_files_is_one_line():
    config = changed(
        shipped(), "experiment.studies", {"A b": {"heading": "Mine", "tasks": ["rte"]}}
    )
    assert faults(config) == ["experiment.studies.A b: give it a name of a-z, 0-9 and _ alone"]


def test_heads_of_an_odd_width_cannot_be_modern():
    shape = {"n_embd": 45, "n_head": 3, "n_ff": 192}
    study = {"heading": "Mine", "tasks": ["rte"], "lines": {"a": {"block": "modern"}}}
    config = changed(shipped(), "experiment.model.transformer", shape)
    (fault,) = study_faults(parse(changed(config, "experiment.studies", {"mine": study})), "mine")
    assert fault.endswith(
        "modern blocks need heads of an even width, not 15; change n_embd or n_head"
    )
