"""Studies that are refused, in a line for each fault."""

import pytest

from tasks.world.settings import SHARES
from tests.workflow.configs import ROOT, changed, faults, one_study, shipped, small
from tests.workflow.running import command_line, write
from workflow.configuration.read import ConfigError, parse, read
from workflow.configuration.studies import PAPER
from workflow.configuration.study_checks import run_faults, study_faults
from workflow.plan import Plan

FINETUNE, METHOD = "experiment.finetune", "experiment.finetune.method"


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"axis": "data"}, "axis and values: one without the other"),
        ({"axis": "learning_rate", "values": [1]}, "axis: experiment.learning_rate: unknown key"),
        ({"axis": "n_transfer", "values": ["much"]}, "mine.axis: experiment.n_transfer: should"),
        ({"lines": {"a": {"n_transfer": 1, "values": [3]}}}, "lines.a.values: the study has no"),
        ({"lines": {"a": None}}, "lines: all are null; give one"),
        ({"axis": "n_transfer", "values": [1, 1]}, "values: each only once"),
        ({"references": {"full": {}}}, "lines and references: both have 'full'"),
        ({"lines": {"a": {"left_out": 3}}}, "lines.a: experiment.left_out: unknown key"),
        (
            {"axis": "n_transfer", "values": [1], "lines": {"a": {"n_transfer": 2}}},
            "lines.a: experiment.n_transfer is given by the axis",
        ),
        (
            {
                "axis": METHOD,
                "values": [{"train_share": 1}],
                "lines": {"a": {f"{METHOD}.train_share": 0.1}},
            },
            f"lines.a: {METHOD}.train_share is given by the axis",
        ),
        (
            {"axis": f"{FINETUNE}.checkpoint", "values": [0, None]},
            "values: null is the last checkpoint; give its update",
        ),
    ],
)
def test_a_study_that_says_nothing_is_one_line(entry, fault):
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    (found,) = faults(changed(shipped(), "experiment.studies", {"mine": study}))
    assert found.startswith("experiment.studies.mine") and fault in found


LIKE = "is no other line of the study and none of Table 5"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            {"a": {"like": "word vectrs"}},
            {"a": f"'word vectrs' {LIKE}; did you mean 'Word vectors'?"},
        ),
        ({"a": {"like": "b"}, "b": {"like": "zzz"}}, {"b": f"'zzz' {LIKE}"}),
        ({"a": {"like": "a"}}, {"a": f"'a' {LIKE}"}),
        ({"a": {"like": "LSTM"}, "LSTM": None}, {"a": f"'LSTM' {LIKE}"}),
        (
            {"a": {"like": "b"}, "b": {"like": "c"}, "c": {"like": "b"}},
            {t: f"'{o}' is like others in a circle" for t, o in ("ab", "bc", "cb")},
        ),
    ],
)
def test_a_line_that_is_like_no_line_is_refused(lines, expected):
    study = {"heading": "Mine", "tasks": ["rte"], "lines": lines}
    found = faults(changed(shipped(), "experiment.studies.mine", study))
    begins = [f"experiment.studies.mine.lines.{t}.like: {said}" for t, said in expected.items()]
    assert len(found) == len(begins)
    assert all(line.startswith(begin) for line, begin in zip(found, begins, strict=True))


NOTHING = "changes none of its cells; "


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            {"axis": f"{FINETUNE}.lr.lstm", "values": [2e-3]},
            f"lines.full at {FINETUNE}.lr.lstm 0.002: {FINETUNE}.lr.lstm {NOTHING}make the line a "
            "reference",
        ),
        (
            {"axis": "n_transfer", "values": [12], "lines": {"a": {"experiment.margins.task": 1}}},
            f"lines.a at experiment.n_transfer 12: experiment.margins.task {NOTHING}remove it",
        ),
        (
            {"lines": {"a": {"experiment.tasks.cola.epochs": 3}}},
            f"lines.a: experiment.tasks.cola.epochs {NOTHING}remove it",
        ),
        (
            {"references": {"b": {"experiment.model.lstm.n_hidden": 32}}},
            f"references.b: experiment.model.lstm.n_hidden {NOTHING}remove it",
        ),
    ],
)
def test_what_would_train_the_same_cells_under_another_name_is_refused(entry, fault):
    assert list(study_faults(one_study(**entry), "mine")) == [f"experiment.studies.mine.{fault}"]


ROWS = "all lines are compared on the run's reported rows; remove it"
CHECKPOINTS = (
    "experiment.pretrain: has other checkpoints than the run's, whose cloze items are compared; "
    "remove updates and checkpoints"
)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            {"axis": "n_transfer", "values": ["none", 0, 12, "all"]},
            "lines.full: 12 twice among the values; give it once",
        ),
        (
            {"axis": "experiment.world.seed", "values": [43, 44]},
            f"lines.full at experiment.world.seed 44: experiment.world.seed: {ROWS}",
        ),
        *(
            ({"lines": {"a": {f"experiment.{key}": value}}}, f"lines.a: experiment.{key}: {ROWS}")
            for key, value in (
                ("world.report", 50),
                ("world.reported.lexical", 1),
                ("tasks.rte.limit_report", 9),
            )
        ),
        (
            {
                "axis": f"{FINETUNE}.checkpoint",
                "values": [0],
                "lines": {"a": {"experiment.pretrain.checkpoints": 3}},
                "skills": {"rte": ["energy"]},
            },
            f"lines.a at {FINETUNE}.checkpoint 0: {CHECKPOINTS}",
        ),
    ],
)
def test_what_a_table_would_find_only_after_training_is_refused(entry, fault):
    assert list(study_faults(one_study(**entry), "mine")) == [f"experiment.studies.mine.{fault}"]


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
        ("ablation", {"axis": "finetune.l2", "values": [0, 1]}, "axis: Table 5 compares each line"),
        ("ablation", {"references": {"a": {"n_transfer": 3}}}, "references: Table 5 compares each"),
        (
            "ablation",
            {"lines": {"a": {"n_transfer": 3, "minus": PAPER}}},
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
    ("line", "fault"),
    [
        ({f"{FINETUNE}.lm_cof": 1}, f"{FINETUNE}.lm_cof: unknown key; did you mean lm_coef?"),
        ({f"{METHOD}.train_share": 2}, f"{METHOD}.train_share: should be less than or equal"),
        ({"experiment.world.exclude": ["verse"]}, "experiment.world.exclude.0: should be"),
    ],
)
def test_an_overlay_is_checked_as_a_config_is(line, fault):
    with pytest.raises(ConfigError) as error:
        one_study(lines={"a": line})
    (found,) = error.value.faults
    assert found.startswith(f"experiment.studies.mine.lines.a: {fault}")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"n_transfer": 13}, "experiment.n_transfer: 13, but the transformer has 12"),
        ({f"{METHOD}.read_layer": 13}, f"{METHOD}.read_layer: 13, but the transformer has 12"),
        ({f"{FINETUNE}.checkpoint": 31}, f"{FINETUNE}.checkpoint: 31 has no checkpoint; give one"),
        ({"arch": "lstm", f"{METHOD}.read_layer": 1}, f"{METHOD}.read_layer: is the transformer's"),
        ({f"{METHOD}.frozen": True}, f"{METHOD}.frozen: there is no auxiliary loss; give lm_"),
        ({"experiment.world.exclude": list(SHARES)}, "experiment.world.exclude: no kind of disc"),
    ],
)
def test_a_study_whose_cells_cannot_be_made_is_told_when_it_is_asked_for(line, fault):
    found = list(study_faults(one_study(lines={"a": line}), "mine"))
    assert [text.startswith(f"experiment.studies.mine.lines.a: {fault}") for text in found] == [
        True
    ]


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


def test_table_5_has_all_tasks_of_the_run():
    found = Plan(parse(changed(small(), "experiment.studies.ablation", {"tasks": ["rte"]})))
    (fault,) = run_faults(found)
    assert fault.startswith("experiment.studies.ablation.tasks: Table 5 has all tasks; give")
