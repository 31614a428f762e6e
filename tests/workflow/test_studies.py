"""Studies: overlays of the config, and the cells that they lead to."""

import re

import pytest
import yaml

from gpt1.cell import UNCHANGED, Cell
from tasks.world.settings import SHARES
from tests.workflow.configs import ROOT, changed, complete, one_study, shipped, small
from tests.workflow.running import planned, snakemake, with_config
from workflow import studies
from workflow.analysis.flops import per_token
from workflow.analysis.paper import TABLE_5
from workflow.configuration.read import as_yaml, parse
from workflow.configuration.studies import FITTED_TITLE, N_TRANSFER, PAPER, PRINTED, merge
from workflow.grid import StudyPlan
from workflow.plan import STAGES, Plan, cut, name
from workflow.studies import study_faults

WORLD = complete()
LINES = Plan(WORLD)
UPDATES = WORLD.experiment.pretrain.updates
FINETUNE, METHOD = "experiment.finetune", "experiment.finetune.method"


@pytest.mark.parametrize("study", WORLD.experiment.studies)
def test_every_shipped_study_can_be_made_and_shares_the_grids_cells(study):
    plan, grid = studies.checked(LINES, study), LINES.grid()
    assert (study in grid.studies) <= ({*plan.cells()} <= {*grid.cells()})
    assert len(plan.points) == len({(p.line, p.value) for p in plan.points})
    assert StudyPlan.parse(plan.to_json()) == plan


def test_the_page_has_every_study_that_all_makes_but_the_papers(tmp_path):
    study = {"heading": "Mine", "tasks": ["rte"], "lines": {"a": {f"{FINETUNE}.l2": 0}}}
    config = changed(small(), "experiment.studies.mine", study)
    config = changed(config, "experiment.all", ["ablation", "mine"])
    config = config | {"results": str(tmp_path / "results")}
    found = Plan(parse(config))
    names = [head.name for head in studies.heads(found)]
    assert "mine" in names and not {"ablation", "layer_transfer"} & {*names}
    files = [str(tmp_path / f"results/studies/mine.{form}") for form in studies.FORMS]
    assert studies.made(found) == files
    page = str(tmp_path / "results" / "index.html")
    assert planned(ROOT, *with_config(tmp_path, config), page)["study"] == 1


def test_the_study_of_the_page_can_be_made():
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    line, given = (yaml.safe_load(part.partition("```")[0]) for part in page.split("```yaml")[1:])
    own = Plan(parse(merge(shipped(), line))).grid().studies["ablation"].lines
    assert "Transformer, dropout 0.3" in own and "LSTM w/ aux LM" not in own
    ((study, own),) = given["experiment"]["studies"].items()
    plan = studies.checked(Plan(parse(merge(shipped(), given))), study)
    assert f"studies/{study}.csv" in page and len(plan.points) == len(own["values"]) * 2


NAMES = """
- [{}, full]
- [{experiment.finetune.lm_coef: 0.05, finetune.method.train_share: 1}, full]
- [{n_transfer: 12, arch: transformer}, full]
- [{arch: lstm, n_transfer: 1}, arch-lstm]
- [{experiment: {finetune: {lm_coef: 0}}}, finetune.lm_coef-0]
- [{arch: lstm, finetune: {lm_coef: 0.0}}, arch-lstm+finetune.lm_coef-0]
- [{n_transfer: none}, n_transfer-none]
- [{experiment.finetune.method.train_share: 0.5, n_transfer: 3, finetune.l2: 0},
   finetune.l2-0+finetune.method.train_share-0.5+n_transfer-3]
- [{arch: lstm, experiment.model.lstm.n_layer: 2, n_transfer: 2}, arch-lstm+model.lstm.n_layer-2]
- [{finetune: {}, tasks: {rte: {}}, pretrain: {shuffled: null}}, full]
- [{finetune.lm_coef: -0.0}, finetune.lm_coef-0]
"""


@pytest.mark.parametrize(("line", "expected"), yaml.safe_load(NAMES))
def test_what_differs_is_the_name_of_a_line_however_it_is_written(line, expected):
    found = one_study(lines={"a": line})
    (cell,) = studies.checked(found, "mine").cells()
    assert cell == Cell(expected, "rte") == Cell.parse(cell.path("results"))
    assert cell == Cell.named(cell.name)


def test_a_line_like_another_has_its_keys_below_its_own():
    own = {
        "fitted": {"like": FITTED_TITLE, "finetune.epochs": 7},
        "deep": {"like": "wide", "minus": "wide"},
        "wide": {"like": "fitted", f"{FINETUNE}.batch": 4, "minus": "fitted"},
        FITTED_TITLE: {"like": FITTED_TITLE},  # that of Table 5
    }
    lines = one_study(lines=own).base.experiment.studies["mine"].lines
    table_5 = parse(changed(shipped(), "experiment.studies", {})).experiment.studies["ablation"]
    fitted = table_5.lines[FITTED_TITLE].overlay
    assert lines[FITTED_TITLE].overlay == fitted and lines[FITTED_TITLE].like == ""
    assert lines["fitted"].overlay == fitted | {f"{FINETUNE}.epochs": 7}
    both = {**fitted, f"{FINETUNE}.epochs": 7, f"{FINETUNE}.batch": 4}
    assert lines["deep"].overlay == lines["wide"].overlay == both
    assert [lines[title].minus for title in ("deep", "wide", FITTED_TITLE)] == [
        "wide",
        "fitted",
        "",
    ]


def test_the_values_of_an_axis_come_over_the_keys_of_the_line_that_another_is_like():
    axis = {"axis": "n_transfer", "values": ["none", 0]}
    found = one_study(**axis, references={"whole": {}}, lines={"a": {"like": FITTED_TITLE}})
    assert found.base.experiment.studies["mine"].lines["a"].overlay.keys().isdisjoint({N_TRANSFER})
    assert [p.variant.n_transfer for p in found.study("mine").points] == [12, "none", 0]
    assert parse(yaml.safe_load(as_yaml(found.base))) == found.base
    section = {"axis": "finetune", "values": [{"epochs": 1}, {"epochs": 2}]}
    (line,) = (
        one_study(**section, lines={"a": {"like": FITTED_TITLE}})
        .base.experiment.studies["mine"]
        .lines.values()
    )
    assert f"{FINETUNE}.lm_coef" in line.overlay and f"{FINETUNE}.epochs" not in line.overlay


def test_a_name_is_a_path_and_no_two_overlays_have_one():
    overlays = [{"data": "a b"}, {"data": "a/b"}, {"data": "a-b"}, {"x" * 300: 1}, {"x" * 301: 1}]
    names = [name(overlay) for overlay in overlays]
    assert len(set(names)) == len(names)
    assert all(len(found) < 200 and not set("/ {}") & set(found) for found in names)
    assert name({}) == UNCHANGED and name({"b": [1, "c"], "a": None}) == "a-null+b-1.c"


READERS = {  # of a key, the stages whose files depend on it
    **{"n_transfer": "", "finetune.lm_coef": "", "model.n_ctx": "model", "optimizer.l2": "model"},
    "pretrain.updates": "model",
    "pretrain.shuffled": "tokens model",
    "tokenizer.merges": "tokenizer encoded tokens model",
    "world.exclude": "world books tokens model",
    "tasks.rte.limit_train": "tasks encoded",
    "world.words": "world tasks tokenizer encoded books tokens model",
}


@pytest.mark.parametrize("key", READERS)
def test_a_file_lies_with_the_keys_that_it_depends_on(key):
    found = {stage for stage in STAGES if cut({f"experiment.{key}": 1}, stage)}
    assert found == {*READERS[key].split()}


def test_variants_that_differ_in_fine_tuning_share_a_language_model():
    wide = {"experiment.model.transformer.n_embd": 96}
    found = one_study(lines={"a": wide, "b": {**wide, f"{FINETUNE}.lm_coef": 2}, "c": {}})
    plan = studies.checked(found, "mine")
    assert [point.variant.model for point in plan.points] == [
        *2 * ["model.transformer.n_embd-96"],
        UNCHANGED,
    ]
    models = [point.variant.models() for point in plan.points]
    assert models[0] == models[1] != models[2] == LINES.grid().find().models()


def test_an_axis_is_named_by_its_key_and_not_by_an_architecture_alone():
    for key, shown in ((f"{FINETUNE}.lr.transformer", "lr.transformer"), ("n_transfer",) * 2):
        study = one_study(lines={"a": {}}, axis=key, values=[1, 2])
        assert studies.checked(study, "mine").axis == shown


ONE = dict.fromkeys(["world", "documents", "tokenizer", "examples", "baselines", "encode"], 1)
ONE |= {"baselines_word_classes": 1, "tokens": 1, "vectors": 1, "pretrain": 5}
# With the first value, and the pool of seeds.
TRAINED = ("ablation_transformer", "ablation_from_scratch", "mine_transformer")
AXES = {  # any key of the config: its values, and how often a job of ONE is needed or one more is
    "pretrain.updates": ([UPDATES, 300], {"pretrain_1": 5}),
    "tokenizer.merges": ([1500, 300], {"tokenizer": 2, "encode": 2, "tokens": 2, "pretrain": 10}),
    "tasks.rte.limit_train": ([None, 50], {"examples": 2, "baselines": 2, "encode": 2}),
    "world.words": ([1500000, 90000], {job: 2 * n for job, n in ONE.items() if job != "vectors"}),
}


@pytest.mark.parametrize("axis", AXES)
def test_any_key_of_the_config_can_be_an_axis(axis, tmp_path):
    values, jobs = AXES[axis]
    study = {"heading": "Mine", "tasks": ["rte"], "axis": axis, "values": values}
    config = changed(shipped(), "experiment.studies", {"mine": study})
    found = planned(ROOT, *with_config(tmp_path, config), "results/studies/mine.csv")
    assert found == ONE | {f"finetune_{name}": 1 for name in TRAINED} | {"study": 1} | jobs


@pytest.mark.parametrize(
    ("axis", "values", "shown"),
    [
        ("experiment.pretrain.shuffled", [None, "words"], ["null", "words"]),
        (f"{FINETUNE}.init_std", [None, 0.1], ["null", "0.1"]),
        ("experiment.world.discourse", [{}, {"remarks": 0}], ["{}", "remarks 0"]),
        (f"{FINETUNE}.dropout", [{"resid": 0.1, "embd": 0.2}], ["resid 0.1, embd 0.2"]),
    ],
)
def test_null_and_sections_are_values_like_others(axis, values, shown):
    found = one_study(axis=axis, values=values, references={"whole": {}})
    plan = studies.checked(found, "mine")
    assert plan.values == shown and plan.points[0].key == ("whole", "")
    assert [point.value for point in plan.points[1:]] == shown


def test_values_have_the_order_of_the_study_and_those_of_a_lines_own_axis_its_name():
    own = {"a": {"values": [2, 0.5]}, "b": {}, "c": {"axis": "n_transfer", "values": [3, "all"]}}
    given = {"axis": f"{FINETUNE}.lm_coef", "values": [0, 0.5], "references": {"whole": {}}}
    plan = studies.checked(one_study(lines=own, **given), "mine")
    assert plan.values == ["0", "0.5", "2", "3", "12"]
    assert [point.row for point in plan.points] == [
        *("whole", "a, lm_coef 2", "a, lm_coef 0.5", "b, lm_coef 0", "b, lm_coef 0.5"),
        *("c, n_transfer 3", "c, n_transfer 12"),
    ]


def test_an_axis_of_a_section_may_have_a_part_for_each_line():
    rates = [{"transformer": rate, "lstm": rate} for rate in (1e-3, 2e-3)]
    lines = {"transformer": {}, "LSTM": {"arch": "lstm"}}
    found = one_study(axis=f"{FINETUNE}.lr", values=rates, lines=lines)
    assert list(study_faults(found, "mine")) == []


def test_what_a_line_says_of_all_tasks_comes_before_the_tasks_own_values():
    own, key = WORLD.experiment.tasks["rte"].epochs, f"{FINETUNE}.epochs"
    given = {"axis": key, "values": [1, WORLD.experiment.finetune.epochs, own]}
    found = one_study(lines={"full": {}, "aux 2": {f"{FINETUNE}.lm_coef": 2}}, **given)
    cells = studies.checked(found, "mine").cells()
    trained = [found.config(c.variant).finetune(c.task) for c in cells]
    assert [settings.epochs for settings in trained] == 2 * [1, 3, own]
    both = one_study(lines={"a": {key: 3, "experiment.tasks.rte.epochs": own}, "b": {key: 3}})
    names = [both.named(line) for _, _, line in both.base.experiment.studies["mine"].points()]
    assert [both.config(n).finetune("rte").epochs for n in names] == [own, 3]
    assert {both.at(n, "encoded") for n in names} == {UNCHANGED}  # the rows are the run's


def test_zero_shot_scores_are_read_of_the_runs_own_language_models_alone():
    axis = {"axis": f"{FINETUNE}.checkpoint", "values": [0, UPDATES], "tasks": ["cola"]}
    others = (
        {},
        {"experiment.pretrain.lr.transformer": 1e-2},
        {f"{FINETUNE}.embeddings": "permuted"},
    )
    plans = [one_study(lines={"own": {}, "b": other}, **axis) for other in others]
    read = [set(studies.inputs(found, studies.checked(found, "mine"))) for found in plans]
    scores = [{path for path in files if "/zero_shot/" in path} for files in read]
    assert scores[0] == scores[1] == scores[2] and len(scores[0]) == 5 * 7  # seeds, checkpoints
    facts = [
        files - own for files, own in zip(read, scores, strict=True)
    ]  # of 5 seeds, at 0 and 4000
    assert [len(of) for of in facts] == [10, 20, 10] and facts[0] == facts[2] < facts[1]


def test_the_world_is_the_runs_but_for_what_is_left_out():
    found = one_study(lines={"a": {"experiment.world.exclude": ["remarks", "kinds"]}})
    made, own = found.config("world.exclude-remarks.kinds").experiment.world, WORLD.experiment.world
    assert made.shares() == {**own.shares(), "kinds": 0.0, "remarks": 0.0}
    assert made.model_copy(update={"exclude": []}) == own


def test_the_two_lstms_have_the_transformers_parameters_and_flops():
    lines = WORLD.experiment.studies["lstm_size"].lines
    transformer = WORLD.model("transformer")
    n_vocab, time = 1500, transformer.n_ctx

    def model(line):
        return LINES.config(LINES.named(lines[line].overlay)).model("lstm")

    own, shape = model("LSTM, equal parameters").shape, transformer.shape
    h, e = own.n_hidden, own.n_embd
    block = 12 * shape.n_embd**2 + 13 * shape.n_embd
    assert shape.n_ff == 4 * shape.n_embd
    ours = shape.n_layer * block + transformer.n_ctx * shape.n_embd
    assert 4 * h * (e + h) + 8 * h + h * e + e == pytest.approx(ours, rel=5e-3)
    flops = per_token(model("LSTM, equal FLOPs"), n_vocab, time)
    assert flops == pytest.approx(per_token(transformer, n_vocab, time), rel=5e-3)


@pytest.mark.parametrize("study", ["knockout", "knockout_each"])
def test_each_kind_of_discourse_is_left_out_in_one_line(study):
    own = WORLD.experiment.studies[study]
    left_out = [k for line in own.lines.values() for k in line.overlay["experiment.world.exclude"]]
    assert sorted(left_out) == sorted(SHARES)


def test_the_shipped_studies_plan_what_they_need_and_share_the_rest(tmp_path):
    others = {*WORLD.experiment.studies} - {*WORLD.experiment.all}
    targets = [f"results/studies/{study}.csv" for study in others]
    found = planned(ROOT, "--directory", str(tmp_path), "--", *targets)
    assert found["study"] == len(targets)
    assert found["world"] == found["documents"] == found["tokens"] == 1 + 2 + 7  # of the knock-outs
    assert found["tokenizer"] == 1 and found["examples"] == found["encode"] == 13


def test_the_programs_are_given_the_books_and_the_runs_own_tokenizer(tmp_path):
    folder = "results/smoke/variants/world.exclude-remarks"
    target = "results/smoke/cells/world.exclude-remarks/rte.json"
    said = snakemake(ROOT, "-n", "--printshellcmds", *with_config(tmp_path, "smoke"), target)
    assert f"--out {folder}/world" in said and '"exclude": ["remarks"]' in said
    assert f"gpt1 corpus documents --folder {folder}/world/books" in said
    assert f"--checkpoints {folder}/pretrain/transformer/seed-0/update-40.safetensors " in said
    assert said.count("python -m gpt1 tokenizer") == 1
    assert "--encoded results/smoke/encoded/rte " in said


def test_a_line_on_the_synthetic_world_reads_books_of_a_folder_beside_the_run(tmp_path):
    (tmp_path / "novels").mkdir()
    (tmp_path / "novels" / "one.txt").write_text("Once there was a book. " * 50)
    line = "experiment.studies.ablation.lines.novels"
    config = changed(small(), line, {"corpus.folder": "novels"})
    work = ["--directory", str(tmp_path), *with_config(tmp_path, config)]
    folder = "results/variants/corpus.folder-novels"
    said = snakemake(ROOT, "-n", "-p", *work, f"{folder}/corpus/documents")
    assert "gpt1 corpus documents --folder novels " in said
    absent = changed(config, line, {"corpus.folder": "none"})
    work = ["--directory", str(tmp_path), *with_config(tmp_path, absent)]
    said = snakemake(ROOT, "-n", *work, "results/ablation.csv")
    assert "no .txt file in none" in said


def test_a_line_of_another_world_reads_what_the_run_has_fetched(tmp_path):
    config = changed(small(), "experiment.tasks.rte", {"source": "hub"})
    config = changed(config, "experiment.studies.ablation.lines.mine", {"world.words": 90000})
    target = "results/variants/world.words-90000/examples/rte"
    said = snakemake(ROOT, "-n", "-p", *with_config(tmp_path, config), target)
    (fetched,) = re.findall(r"tasks fetch rte .*--folder (\S+)", said)
    assert f"tasks prepare rte --folder {fetched} " in said


def test_the_published_vocabulary_of_a_line_is_looked_for_and_the_runs_own_is_learnt(tmp_path):
    line = {"tokenizer.folder": "bpe", "tokenizer.merges": None}
    config = changed(small(), "experiment.studies.ablation.lines.mine", line)
    said = snakemake(ROOT, "-n", *with_config(tmp_path, config), "results/ablation.csv")
    assert "experiment.tokenizer.folder: no file bpe/" in said.splitlines()[-1]
    assert "tokenizer results/logs/tokenizer.log" in said


def test_a_whole_run_can_be_trained_as_a_line_is(tmp_path):
    config = changed(small(), f"{METHOD}.train_share", 0.5)
    config = changed(config, f"{FINETUNE}.checkpoint", 0)
    said = snakemake(
        ROOT, "-n", "-p", *with_config(tmp_path, config), "results/cells/full/rte.json"
    )
    (line,) = (line for line in said.splitlines() if "python -m gpt1 finetune" in line)
    assert '"train_share": 0.5' in line and "seed-1/update-0.safetensors" in line


def test_the_lines_whose_titles_are_the_papers_are_those_that_it_prints():
    assert {PAPER, *PRINTED} == set(TABLE_5["method"])
