"""Studies that are refused, in a line for each fault."""

import pytest
import yaml

from tasks.world.settings import SHARES
from tests.workflow.configs import ROOT, changed, faults, one_study, shipped, small
from tests.workflow.running import snakemake, with_config, write
from workflow.configuration.read import merge, parse, read
from workflow.plan import Plan
from workflow.studies import study_faults

# A study of RTE as a config gives it, and its fault, below the study or of the study itself.
FAULTS = """
# What says nothing, or too much.
- [{axis: data}, " axis and values: one without the other"]
- [{lines: {a: {n_transfer: 1, values: [3]}}}, " lines.a.values: the study has no axis"]
- [{lines: {a: {axis: n_transfer}}}, " lines.a.values: the study has no axis; remove them"]
- [{axis: finetune.checkpoint, values: [0], lines: {a: {axis: finetune.lm_coef, values: [0.1]}}},
   " lines.a.axis: the table is along experiment.finetune.checkpoint; remove it"]
- [{axis: finetune.method.train_share, values: [0.5], lines: {a: {axis: n_transfer, values: [0]}}},
   " lines.a.axis: the table is along experiment.finetune.method.train_share; remove it"]
- [{lines: {" ": {}}}, " lines: ' ' is no title; give words, and no * before them"]
- [{lines: {"*paper": {}}}, " lines: '*paper' is no title; give words, and no * before them"]
- [{lines: {a: null}}, " lines: all are null; give one"]
- [{axis: n_transfer, values: [1, 1]}, " values: each only once"]
- [{references: {full: {}}}, " lines and references: both have 'full'"]
- [{axis: n_transfer, values: [12], lines: {a: {n_transfer: 2}}},
   " lines.a: experiment.n_transfer is given by the axis"]
- [{axis: finetune.method, values: [{frozen: false}], lines: {a: {finetune.method.frozen: true}}},
   " lines.a: experiment.finetune.method.frozen is given by the axis"]
- [{lines: {a: {finetune.l2: 0, finetune: {l2: 1}}}},
   "lines.a: experiment.finetune.l2 is given twice; give it once"]
- [{axis: n_transfer, values: [1, 1.0]}, " values: each only once"]
- [{references: {a: {axis: arch}}}, " references.a: has no values, axis or minus; remove them"]
- [{references: {a: {minus: full}}}, " references.a: has no values, axis or minus; remove them"]
- [{lines: {a: {minus: a}}}, " lines.a.minus: give another line of a study without an axis"]
- [{axis: finetune.checkpoint, values: [0, null]},
   " values: null is the last checkpoint; give its update"]
- [{lines: {a: {minus: nobody}}}, " lines.a.minus: give another line of a study without an axis"]
- [{axis: n_transfer, values: [12], lines: {a: {minus: b}, b: {}}},
   " lines.a.minus: give another line of a study without an axis"]
- [{lines: {a: {}, b: {}}, skills: {rte: [energy]}}, " skills: give them for one line"]
# Lines that are like no line.
- [{lines: {a: {like: word vectrs}}},
   "lines.a.like: 'word vectrs' is no other line of the study and none of Table 5; did you mean"]
- [{lines: {a: {like: b}, b: {like: zzz}}},
   "lines.b.like: 'zzz' is no other line of the study and none of Table 5; give the title of one"]
- [{lines: {a: {like: a}}}, "lines.a.like: 'a' is no other line of the study and none of Table 5"]
- [{lines: {a: {like: LSTM}, LSTM: null}}, "lines.a.like: 'LSTM' is null in this config; give the"]
# Overlays, which are checked as a config is.
- [{lines: {a: {left_out: 3}}}, "lines.a: experiment.left_out: unknown key"]
- [{axis: learning_rate, values: [1]}, "axis: experiment.learning_rate: unknown key"]
- [{axis: n_transfer, values: [much]}, "axis: experiment.n_transfer: should"]
- [{lines: {a: {finetune.lm_cof: 1}}},
   "lines.a: experiment.finetune.lm_cof: unknown key; did you mean lm_coef?"]
- [{lines: {a: {finetune.method.train_share: 2}}},
   "lines.a: experiment.finetune.method.train_share: should be less than or equal"]
- [{lines: {a: {world.exclude: [verse]}}}, "lines.a: experiment.world.exclude.0: should be"]
- [{lines: {a: {pretrain: null, pretrain.updates: 300}}},
   "lines.a: experiment.pretrain.updates: the section pretrain is"]
- [{lines: {a: {pretrain: null}}, axis: pretrain.updates, values: [300]},
   "axis: experiment.pretrain.updates: the section pretrain is"]
# Cells that cannot be made.
- [{lines: {a: {n_transfer: 13}}},
   "lines.a: experiment.n_transfer: 13, but the transformer has 12 layers"]
- [{lines: {a: {finetune.method.read_layer: 13}}},
   "lines.a: experiment.finetune.method.read_layer: 13, but the transformer has 12 layers"]
- [{lines: {a: {finetune.checkpoint: 31}}},
   "lines.a: experiment.finetune.checkpoint: 31 has no checkpoint; give one"]
- [{lines: {a: {arch: lstm, finetune.method.read_layer: 1}}},
   "lines.a: experiment.finetune.method.read_layer: is the transformer's"]
- [{lines: {a: {pretrain: null, n_transfer: none}}},
   "lines.a: experiment.pretrain: it or corpus is null; give both"]
- [{lines: {a: {corpus.heldout: 1}, b: {corpus.heldout: ["1"]}}},
   "lines.b: experiment.corpus.heldout: corpus.heldout-1 has another value already; give both al"]
- [{lines: {a: {finetune.method.frozen: true}}},
   "lines.a: experiment.finetune.method.frozen: there is no auxiliary loss; give lm_"]
- [{lines: {a: {world.exclude: EVERY KIND}}},
   "lines.a: experiment.world.exclude: no kind of discourse is left"]
- [{lines: {a: {pretrained: {path: gpt, updates: 3}, corpus: null, pretrain: null,
                seeds.pretrain: [0], tokenizer: {folder: bpe, merges: null}}}},
   "lines.a: experiment.pretrained: a line neither adds nor drops it; give a config of its own"]
- [{lines: {a: {data: mine, world: null}}},
   "lines.a: experiment.world: a line neither adds nor drops it; give a config of its own"]
# What would train the same cells under another name.
- [{axis: finetune.lr.lstm, values: [0.002]},
   "lines.full at experiment.finetune.lr.lstm 0.002: experiment.finetune.lr.lstm changes none of
   its cells; make the line a reference"]
- [{axis: n_transfer, values: [12], lines: {a: {margins.task: 1}}},
   "lines.a at experiment.n_transfer 12: experiment.margins.task changes none of its cells; remove"]
- [{lines: {a: {tasks.cola.epochs: 3}}},
   "lines.a: experiment.tasks.cola.epochs changes none of its cells; remove it"]
- [{references: {b: {model.lstm.n_hidden: 32}}},
   "references.b: experiment.model.lstm.n_hidden changes none of its cells; remove it"]
# What a table would find only after training.
- [{axis: n_transfer, values: [none, 0, 12, all]},
   "lines.full: 12 twice among the values; give it once"]
- [{lines: {a: {}, bag of words: {n_transfer: 3}}},
   "lines.bag of words: another row of its tables is 'bag of words'; give another title"]
- [{lines: {best baseline: {}}}, "lines.best baseline: another row of its tables is 'best base"]
- [{references: {"bag of words, l2 0": {}}, axis: finetune.l2, values: [0]},
   "references.bag of words, l2 0: another row of its tables is 'bag of words, l2 0'; give another"]
- [{references: {"full, l2 0": {}}, axis: finetune.l2, values: [0, 1]},
   "lines.full: another row of its tables is 'full, l2 0'; give another title"]
- [{lines: MANY TITLES}, "lines: 91 with the references, but a figure shows 90; make two studies"]
- [{axis: experiment.world.seed, values: [467, 44]},
   "lines.full at experiment.world.seed 44: experiment.world.seed: all lines are compared on the
   run's reported rows; remove it"]
- [{lines: {a: {world.report: 50}}}, "lines.a: experiment.world.report: all lines are compared"]
- [{lines: {a: {world.reported.lexical: 1}}},
   "lines.a: experiment.world.reported.lexical: all lines are compared on the run's reported rows"]
- [{lines: {a: {tasks.rte.limit_report: 9}}},
   "lines.a: experiment.tasks.rte.limit_report: all lines are compared on the run's reported rows"]
- [{axis: finetune.checkpoint, values: [0], skills: {rte: [energy]},
    lines: {a: {pretrain.checkpoints: 3}}},
   "lines.a at experiment.finetune.checkpoint 0: experiment.pretrain: has other checkpoints than
   the run's, whose cloze items are compared; remove updates and checkpoints"]
- [{tasks: [rte, mnli, mni]}, "tasks: mni is not in experiment.tasks; add it there,"]
"""


FAULTS = FAULTS.replace("EVERY KIND", str([*SHARES]))
FAULTS = FAULTS.replace("MANY TITLES", str({f"title {i}": {} for i in range(91)}))


@pytest.mark.parametrize(("entry", "fault"), yaml.safe_load(FAULTS))
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
        ("aux_loss", {"lines": {"a": {"seeds.finetune": [3]}}}, "experiment.seeds.finetune is the"),
    ],
)
def test_what_does_not_fit_a_shipped_study_is_a_line(study, entry, fault):
    given = merge(shipped("transfers"), {"experiment": {"studies": {study: entry}}})
    found = [*study_faults(Plan(parse(merge(shipped(), given))), study)]
    assert found and all(fault in line for line in found)


def test_no_line_has_a_world_in_a_run_without_one():
    found = one_study(shipped("novels"), lines={"a": {"data": None, "world": {}}})
    (fault,) = study_faults(found, "mine")
    assert "mine.lines.a: experiment.world: a line neither adds nor drops it; give" in fault


def test_skills_need_cloze_items():
    skills = {"tasks": ["sst2"], "skills": {"sst2": ["opinion"]}}
    found = one_study(shipped("novels"), axis="finetune.checkpoint", values=[0], **skills)
    (fault,) = study_faults(found, "mine")
    assert fault.startswith("experiment.studies.mine.skills: there are no cloze items; give exper")


OF_THE_PAPER = """
- [ablation, {tasks: [rte]}, "tasks: Table 5 has all tasks; give"]
- [ablation, {axis: finetune.l2, values: [0, 1]}, "axis: Table 5 compares each line"]
- [ablation, {references: {a: {n_transfer: 3}}}, "references: Table 5 compares each"]
- [ablation, {lines: {a: {n_transfer: 3, minus: Transformer w/ aux LM (full)}}},
   "lines.a.minus: Table 5 compares each line with 'Transformer w/ aux LM (full)'; remove"]
- [layer_transfer, {lines: {Transformer w/ aux LM (full): null, Transformer w/o aux LM: null}},
   "lines: none is a transformer; keep one"]
- [layer_transfer, {axis: finetune.checkpoint, values: [0], lines: NO LSTM},
   "axis: experiment.finetune.checkpoint, but Figure 2 is drawn along n_transfer; give that"]
- [layer_transfer, {axis: null, values: [], lines: NO LSTM},
   "axis: null, but Figure 2 is drawn along n_transfer; give that"]
- [layer_transfer, {values: [0, 3], lines: {a: {axis: finetune.method.read_layer}}},
   "lines.a.axis: experiment.finetune.method.read_layer, but Figure 2 is drawn along n_transfer"]
"""
NO_LSTM = "{LSTM w/ aux LM: null, LSTM w/o aux LM: null}"


@pytest.mark.parametrize(
    ("study", "entry", "fault"), yaml.safe_load(OF_THE_PAPER.replace("NO LSTM", NO_LSTM))
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


def test_a_study_that_there_is_not_ends_in_one_line(tmp_path):
    said = snakemake(ROOT, "-n", "-d", str(tmp_path), "results/studies/bogus.csv", code=1)
    fault = "error: config: experiment.studies.bogus: no such study; known"
    assert fault in said and "Traceback" not in said


def test_a_study_that_the_config_cannot_make_ends_in_a_line_for_each_fault(tmp_path):
    options = with_config(tmp_path, small())
    said = snakemake(ROOT, "-n", *options, "results/studies/lm_coef.csv", code=1)
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
