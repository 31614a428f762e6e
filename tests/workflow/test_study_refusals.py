"""Studies that are refused, in a line for each fault."""

from typing import Any

import pytest

from tasks.world.settings import SHARES
from tests.workflow.configs import ROOT, changed, faults, one_study, shipped, small
from tests.workflow.running import command_line, write
from workflow.configuration.checks import study_faults
from workflow.configuration.read import merge, parse, read
from workflow.configuration.studies import PAPER
from workflow.plan import Plan

FINETUNE, METHOD = "experiment.finetune", "experiment.finetune.method"
NOTHING = "changes none of its cells; "
ROWS = "all lines are compared on the run's reported rows; remove it"
CHECKPOINTS = (
    "experiment.pretrain: has other checkpoints than the run's, whose cloze items are compared; "
    "remove updates and checkpoints"
)
LIKE = "is no other line of the study and none of Table 5"
MINUS = "lines.a.minus: give a line of a study without an axis"
AT_12 = {"axis": "n_transfer", "values": [12]}


def of_lines(**lines: Any) -> dict[str, Any]:
    return {"lines": lines}


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        # What says nothing, or too much.
        ({"axis": "data"}, " axis and values: one without the other"),
        (of_lines(a={"n_transfer": 1, "values": [3]}), " lines.a.values: the study has no axis"),
        (of_lines(a={"axis": "n_transfer"}), " lines.a.values: the study has no axis; remove them"),
        (of_lines(a=None), " lines: all are null; give one"),
        ({"axis": "n_transfer", "values": [1, 1]}, " values: each only once"),
        ({"references": {"full": {}}}, " lines and references: both have 'full'"),
        (
            AT_12 | of_lines(a={"n_transfer": 2}),
            " lines.a: experiment.n_transfer is given by the axis",
        ),
        (
            {"axis": METHOD, "values": [{"train_share": 1}]}
            | of_lines(a={f"{METHOD}.train_share": 0.1}),
            f" lines.a: {METHOD}.train_share is given by the axis",
        ),
        (
            {"axis": f"{FINETUNE}.checkpoint", "values": [0, None]},
            " values: null is the last checkpoint; give its update",
        ),
        (of_lines(a={"minus": "nobody"}), f" {MINUS}"),
        (AT_12 | of_lines(a={"minus": "b"}, b={}), f" {MINUS}"),
        (of_lines(a={}, b={}) | {"skills": {"rte": ["energy"]}}, " skills: give them for one line"),
        # Lines that are like no line.
        (of_lines(a={"like": "word vectrs"}), f"lines.a.like: 'word vectrs' {LIKE}; did you mean"),
        (of_lines(a={"like": "b"}, b={"like": "zzz"}), f"lines.b.like: 'zzz' {LIKE}; give the"),
        (of_lines(a={"like": "a"}), f"lines.a.like: 'a' {LIKE}"),
        (of_lines(a={"like": "LSTM"}, LSTM=None), f"lines.a.like: 'LSTM' {LIKE}"),
        # Overlays, which are checked as a config is.
        (of_lines(a={"left_out": 3}), "lines.a: experiment.left_out: unknown key"),
        ({"axis": "learning_rate", "values": [1]}, "axis: experiment.learning_rate: unknown key"),
        ({"axis": "n_transfer", "values": ["much"]}, "axis: experiment.n_transfer: should"),
        (
            of_lines(a={f"{FINETUNE}.lm_cof": 1}),
            f"lines.a: {FINETUNE}.lm_cof: unknown key; did you mean lm_coef?",
        ),
        (
            of_lines(a={f"{METHOD}.train_share": 2}),
            f"lines.a: {METHOD}.train_share: should be less than or equal",
        ),
        (
            of_lines(a={"world.exclude": ["verse"]}),
            "lines.a: experiment.world.exclude.0: should be",
        ),
        *(
            (
                of_lines(a=keys) | axis,
                f"{part}: experiment.pretrain.updates: the section pretrain is",
            )
            for keys, axis, part in (
                ({"pretrain": None, "pretrain.updates": 300}, {}, "lines.a"),
                ({"pretrain": None}, {"axis": "pretrain.updates", "values": [300]}, "axis"),
            )
        ),
        # Cells that cannot be made.
        (
            of_lines(a={"n_transfer": 13}),
            "lines.a: experiment.n_transfer: 13, but the transformer has 12",
        ),
        (
            of_lines(a={f"{METHOD}.read_layer": 13}),
            f"lines.a: {METHOD}.read_layer: 13, but the transformer has 12",
        ),
        (
            of_lines(a={f"{FINETUNE}.checkpoint": 31}),
            f"lines.a: {FINETUNE}.checkpoint: 31 has no checkpoint; give one",
        ),
        (
            of_lines(a={"arch": "lstm", f"{METHOD}.read_layer": 1}),
            f"lines.a: {METHOD}.read_layer: is the transformer's",
        ),
        (
            of_lines(a={f"{METHOD}.frozen": True}),
            f"lines.a: {METHOD}.frozen: there is no auxiliary loss; give lm_",
        ),
        (
            of_lines(a={"world.exclude": list(SHARES)}),
            "lines.a: experiment.world.exclude: no kind of disc",
        ),
        # What would train the same cells under another name.
        (
            {"axis": f"{FINETUNE}.lr.lstm", "values": [2e-3]},
            f"lines.full at {FINETUNE}.lr.lstm 0.002: {FINETUNE}.lr.lstm {NOTHING}make the line a "
            "reference",
        ),
        (
            AT_12 | of_lines(a={"margins.task": 1}),
            f"lines.a at experiment.n_transfer 12: experiment.margins.task {NOTHING}remove it",
        ),
        (
            of_lines(a={"tasks.cola.epochs": 3}),
            f"lines.a: experiment.tasks.cola.epochs {NOTHING}remove it",
        ),
        (
            {"references": {"b": {"model.lstm.n_hidden": 32}}},
            f"references.b: experiment.model.lstm.n_hidden {NOTHING}remove it",
        ),
        # What a table would find only after training.
        (
            {"axis": "n_transfer", "values": ["none", 0, 12, "all"]},
            "lines.full: 12 twice among the values; give it once",
        ),
        (
            {"axis": "experiment.world.seed", "values": [43, 44]},
            f"lines.full at experiment.world.seed 44: experiment.world.seed: {ROWS}",
        ),
        *(
            (of_lines(a={key: value}), f"lines.a: experiment.{key}: {ROWS}")
            for key, value in (
                ("world.report", 50),
                ("world.reported.lexical", 1),
                ("tasks.rte.limit_report", 9),
            )
        ),
        (
            {"axis": f"{FINETUNE}.checkpoint", "values": [0], "skills": {"rte": ["energy"]}}
            | of_lines(a={"pretrain.checkpoints": 3}),
            f"lines.a at {FINETUNE}.checkpoint 0: {CHECKPOINTS}",
        ),
        ({"tasks": ["rte", "mnli", "mni"]}, "tasks: mni is not in experiment.tasks; add it there,"),
    ],
)
def test_a_study_that_cannot_be_made_is_one_line(entry, fault):
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    config = changed(shipped(), "experiment.studies", {"mine": study})
    (found,) = faults(config) or study_faults(Plan(parse(config)), "mine")
    place = "experiment.studies.mine" + (":" if fault[0] == " " else ".")
    assert found.startswith(place + fault)


def test_lines_that_are_like_each_other_in_a_circle_are_a_line_each():
    lines = {"a": {"like": "b"}, "b": {"like": "c"}, "c": {"like": "b"}}
    assert faults(changed(shipped(), "experiment.studies.mine", {"lines": lines})) == [
        f"experiment.studies.mine.lines.{title}.like: {other!r} is like others in a circle; give "
        "one of them its keys instead"
        for title, other in ("ab", "bc", "cb")
    ]


@pytest.mark.parametrize(
    ("study", "entry", "fault"),
    [
        ("which_first", {"skills": {"rte": ["mood"]}}, "skills.rte: there is no mood among"),
        ("which_first", {"skills": {"wnli": ["energy"]}}, "skills.wnli: there is no wnli among"),
        ("aux_loss", of_lines(a={"seeds.finetune": [3]}), "experiment.seeds.finetune is the"),
    ],
)
def test_what_does_not_fit_a_shipped_study_is_a_line(study, entry, fault):
    config = merge(
        merge(shipped(), shipped("transfers")), {"experiment": {"studies": {study: entry}}}
    )
    found = [*study_faults(Plan(parse(config)), study)]
    assert found and all(fault in line for line in found)


def test_skills_need_cloze_items():
    skills = {"tasks": ["sst2"], "skills": {"sst2": ["opinion"]}}
    found = one_study(shipped("novels"), axis=f"{FINETUNE}.checkpoint", values=[0], **skills)
    (fault,) = study_faults(found, "mine")
    assert fault.startswith("experiment.studies.mine.skills: there are no cloze items; give exper")


TRANSFORMERS = dict.fromkeys([PAPER, "Transformer w/o aux LM"])
LSTMS = dict.fromkeys(["LSTM w/ aux LM", "LSTM w/o aux LM"])


@pytest.mark.parametrize(
    ("study", "entry", "fault"),
    [
        ("ablation", {"tasks": ["rte"]}, "tasks: Table 5 has all tasks; give"),
        ("ablation", {"axis": "finetune.l2", "values": [0, 1]}, "axis: Table 5 compares each line"),
        ("ablation", {"references": {"a": {"n_transfer": 3}}}, "references: Table 5 compares each"),
        (
            "ablation",
            of_lines(a={"n_transfer": 3, "minus": PAPER}),
            "lines.a.minus: Table 5 compares each line with 'Transformer w/ aux LM (full)'; remove",
        ),
        ("layer_transfer", {"lines": TRANSFORMERS}, "lines: none is a transformer; keep one"),
        (
            "layer_transfer",
            {"axis": f"{FINETUNE}.checkpoint", "values": [0], "lines": LSTMS},
            f"axis: {FINETUNE}.checkpoint, but Figure 2 is drawn along n_transfer; give that",
        ),
        (
            "layer_transfer",
            {"axis": None, "values": [], "lines": LSTMS},
            "axis: null, but Figure 2 is drawn along n_transfer; give that",
        ),
        (
            "layer_transfer",
            {"values": [0, 3], "lines": {"a": {"axis": f"{METHOD}.read_layer"}}},
            f"lines.a.axis: {METHOD}.read_layer, but Figure 2 is drawn along n_transfer; give that",
        ),
    ],
)
def test_neither_table_5_nor_figure_2_can_be_another_kind_of_study(study, entry, fault):
    found = faults(changed(small(), f"experiment.studies.{study}", entry))
    assert any(line.startswith(f"experiment.studies.{study}.{fault}") for line in found), found


def test_a_study_with_seeds_of_its_own_is_asked_for_by_name():
    seeds = {"experiment.seeds.finetune": [0, 1, 2, 3]}
    lines = {"a": seeds, "b": seeds | {"finetune.l2": 0}}
    config = changed(small(), "experiment.studies.mine", {"tasks": ["rte"], "lines": lines})
    assert faults(config) == []
    made = faults(changed(config, "experiment.all", ["ablation", "mine"]))
    assert [line.split(": ")[0] for line in made] == [
        f"experiment.studies.mine.lines.{title}" for title in lines
    ]
    assert all("experiment.seeds.finetune is the run's in what all makes;" in line for line in made)


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("studies/bogus.csv", "error: config: experiment.studies.bogus: no such study; known"),
        ("cells/finetune.l2-9/rte.json", "no such target"),
    ],
)
def test_what_cannot_be_asked_for_ends_in_one_line(target, fault, tmp_path):
    said = command_line(ROOT, "-n", "-d", str(tmp_path), f"results/{target}", code=1)
    assert fault in said and "Traceback" not in said


def test_a_study_that_the_config_cannot_make_ends_in_a_line_for_each_fault(tmp_path):
    config = write(tmp_path / "small.yaml", small())
    options = ("-n", "-d", str(tmp_path), "--configfile", config, "--")
    said = command_line(ROOT, *options, "results/studies/lm_coef.csv", code=1)
    lines = [line for line in said.splitlines() if line.startswith("error")]
    place, remedy = "experiment.studies.lm_coef.tasks", "is not in experiment.tasks; add it there"
    for line, task in zip(lines, ("sst2", "qnli"), strict=True):
        assert line.startswith(f"error: config: {place}: {task} {remedy}")
    assert "Traceback" not in said


def test_the_null_of_a_line_that_no_earlier_file_has_is_refused_whatever_follows(tmp_path):
    typo = {"experiment": {"studies": {"ablation": {"lines": {"xyz": None}}}}}
    paths = [write(tmp_path / f"{i}.yaml", of) for i, of in enumerate((shipped(), typo, {}, typo))]
    for n in (2, 3, 4):
        (said,) = faults(read(paths[:n]))
        assert "ablation.lines.xyz: there is no such line to remove" in said
