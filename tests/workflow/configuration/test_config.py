"""The config: its defaults, the files that state what differs, and its pages."""

import copy
import csv
import html
import itertools
import json
import os
import re
import shutil

import pytest
import yaml
from docutils.core import publish_parts

from tasks import task
from tasks.common.files import read_json
from tasks.world.make import make_world
from tasks.world.settings import WorldSettings
from tests.workflow.configs import NAMES, ROOT, changed, complete, shipped, small
from tests.workflow.running import command_line, with_config, write
from workflow.configuration import show
from workflow.configuration.model import Config
from workflow.configuration.paths import missing_data, raw_files
from workflow.configuration.read import as_text, as_yaml, merge, parse, read
from workflow.plan import Plan
from workflow.studies import run_faults, study_faults


def test_the_paper_is_the_default():
    paper, default = complete("paper"), Config()
    assert paper.experiment == default.experiment.model_copy(update={"submission": True})
    experiment = paper.experiment
    hub = {name for name, entry in experiment.tasks.items() if entry.source == "hub"}
    assert len(experiment.tasks) == 12 and set(experiment.tasks) - hub == {"story_cloze"}


def test_the_gpu_config_is_the_papers_models_on_all_rows_of_seven_tasks():
    gpu, paper = complete("gpu"), complete("paper")
    for key in ("model", "optimizer", "finetune"):
        assert getattr(gpu.experiment, key) == getattr(paper.experiment, key)
    tasks = gpu.experiment.tasks
    assert set(tasks) == {"cola", "sst2", "mrpc", "stsb", "rte", "snli", "scitail"}
    assert all(one.limit_train is one.limit_report is None for one in tasks.values())
    assert len(Plan(gpu).grid().cells()) == 7 * (8 + 2 + 2)  # by which its cost was reckoned


# What is cut of gpu.yaml; its precision stays.
ON_A_CPU = """
results: results
data: data
experiment:
  corpus: {heldout: 1}
  tokenizer: {merges: 200}
  model:
    n_ctx: 32
    transformer: {n_layer: 2, n_embd: 16, n_head: 2, n_ff: 32}
    lstm: {n_embd: 16, n_hidden: 32}
  pretrain: {updates: 20, warmup: 2, batch: 8, checkpoints: 2,
             lr: {transformer: 0.005, lstm: 0.005}}
  finetune: {epochs: 1}
  seeds: {pretrain: [0], finetune: [0]}
  studies: {layer_transfer: {values: [none, 1, 2]}}
  zero_shot: {limit: 20}
runtime: {device: cpu, micro_batch: 3, pretrain_processes: 2, pretrain_threads: 1,
          finetune_threads: 1}
"""
COMPILER = shutil.which(os.environ.get("CXX", "g++"))
COMPILED = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMPILER, reason="torch.compile needs a C++ compiler on a CPU"),
]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=COMPILED)])
def test_the_gpu_config_runs_to_a_table_on_a_cpu(compiled, tmp_path):
    make_world(WorldSettings(words=3000, books=3, scale=0.01, report=24), tmp_path / "data")
    config = merge(shipped("gpu"), yaml.safe_load(ON_A_CPU))
    snli = config["experiment"]["tasks"]["snli"]
    few = {name: {"min_rows": {s: 1 for s in task(name).rows}} for name in ("snli", "sst2")}
    config["experiment"]["tasks"] = {"snli": snli | few["snli"]}
    config["experiment"]["zero_shot"]["tasks"] = {"sst2": few["sst2"]}
    options = with_config(tmp_path, config)
    if compiled:  # the pre-training alone, as the config advises; then every table
        alone = ("--config", "runtime={compile: true}", "--until", "pretrain")
        command_line(ROOT, *alone, *options, "all")
    command_line(ROOT, *options, "all" if compiled else "results/layer_transfer.csv")

    of_model = tmp_path / "results" / "pretrain" / "transformer" / "seed-0"
    first, last = (read_json(of_model / f"update-{update}.json") for update in (0, 20))
    assert last["heldout_loss"] < first["heldout_loss"]
    runtime = {"precision": "bfloat16", "micro_batch": 3, "processes": 2, "compile": compiled}
    assert last["runtime"].items() >= runtime.items()
    for path in (tmp_path / "results" / "cells").rglob("*.json"):
        assert read_json(path)["runtime"]["precision"] == "bfloat16"
    assert (tmp_path / "results" / "index.html").is_file() == compiled
    table = tmp_path / "results" / "layer_transfer.csv"
    with open(table, encoding="utf-8", newline="") as file:
        filled = [row for row in csv.DictReader(file) if row["n_seeds"] == "1"]
    assert {row["n_transfer"] for row in filled if row["task"] == "snli"} == {"none", "1", "2"}


def test_the_laptop_fine_tunes_as_the_paper_does_on_fewer_rows():
    paper, laptop = complete("paper").experiment, complete("laptop").experiment
    assert laptop.corpus is laptop.pretrain is None
    assert laptop.pretrained.updates == paper.pretrain.updates
    for key in ("model", "optimizer", "seeds"):
        assert getattr(laptop, key) == getattr(paper, key)
    assert laptop.finetune == paper.finetune.model_copy(update={"eval_train": 100})
    for name, entry in laptop.tasks.items():
        assert entry == paper.tasks[name].model_copy(update={"limit_train": entry.limit_train})
    cells = Plan(complete("laptop")).grid().cells()
    assert len(cells) == 5 * (4 + 2)  # by which the night was reckoned


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_config_reads_back_as_it_is_and_its_zero_shot_scores_begin_at_chance(
    name, tmp_path
):
    path, config = tmp_path / "complete.yaml", complete(name)
    path.write_text(as_yaml(parse(read([ROOT / "workflow" / "config" / f"{name}.yaml"]))))
    assert parse(read([path])) == config
    scores = config.experiment.zero_shot_scores
    assert all(of.random == task(name).random_score < of.best for name, of in scores.items())


def test_show_refuses_what_a_run_would(tmp_path, monkeypatch):
    line = {"experiment": {"studies": {"mine": {"lines": {"a": {"finetune.lm_cof": 1}}}}}}
    path = write(tmp_path / "config.yaml", merge(shipped("smoke"), line))
    monkeypatch.setattr("sys.argv", ["configuration", "show", str(path)])
    with pytest.raises(SystemExit, match="lm_cof: unknown key; did you mean lm_coef?"):
        show.main()


@pytest.mark.parametrize(
    "text",
    ["*emphasis* and **strong**", "`a <b>`_ |c| d_", ".. note:: x", "<i>x</i> & y", "a\\b::"],
)
def test_texts_of_a_config_are_shown_in_a_report_as_they_are(text):
    """A report renders captions as reStructuredText."""
    for shown in (as_text({"a": {"question": text}})["a"]["question"], *as_text([text])):
        page = publish_parts(f"Said: {shown}", writer_name="html5")["body"]
        assert re.fullmatch("<p>([^<]*)</p>\n", page)
        assert html.unescape(re.sub("<[^>]*>", "", page)).strip() == f"Said: {text}"


def test_a_complete_config_leaves_out_what_studies_do_not_change():
    text = as_yaml(complete("world"))
    keys = "{experiment.n_transfer: 0, experiment.finetune.epochs: 9"
    assert f"embeddings alone, 9 epochs: {keys}" in text
    assert text.count("frozen: false") == 1  # of the run itself


def test_the_reference_page_is_that_of_the_model():
    page = ROOT / "docs" / "config.md"
    assert page.read_text(encoding="utf-8") == show.reference()


@pytest.mark.parametrize("name", [*NAMES, "world_full", "transfers"])
def test_every_config_file_names_the_schema_and_fits_it(name):
    path = ROOT / "workflow" / "config" / f"{name}.yaml"
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=config.schema.json"
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(yaml.safe_load(path.read_text()), json.loads(show.schema()))


def test_a_further_attempt_asks_for_more_up_to_what_the_partition_allows():
    free = complete("paper").runtime
    assert [free.minutes.of("data", attempt) for attempt in (1, 2, 3)] == [600, 1200, 1800]
    assert free.mem_mb.of("pretrain", 2) == 64_000
    hour = {"pretrain": 60, "finetune": 40, "data": 90, "max": 60}
    minutes = parse(changed(shipped(), "runtime.minutes", hour)).runtime.minutes
    asked = [[minutes.of(stage, k) for k in (1, 2)] for stage in ("pretrain", "finetune", "data")]
    assert asked == [[60, 60], [40, 60], [60, 60]]


def test_all_tasks_of_the_run_and_dprd_are_asked_unless_the_config_names_some():
    config = changed(small(), "experiment.tasks", {"rte": {}, "race": {}})
    config = changed(config, "experiment.zero_shot", {"limit": 9})
    assert [*parse(config).experiment.zero_shot_tasks] == ["rte", "race", "dprd"]
    asked = parse(config).zero_shot("lstm")
    assert asked.prompts == {name: task(name).prompt for name in ("rte", "race", "dprd")}
    config = changed(config, "experiment.zero_shot", {"tasks": {"rte": {}, "cola": {}}})
    assert [*parse(config).experiment.zero_shot_tasks] == ["rte", "cola"]
    assert [*parse(config).examples()] == ["rte", "race", "cola"]


def test_dropped_tasks_leave_their_zero_shot_scores_and_kept_cells_behind():
    config = changed(small(), "experiment.keep", ["full/cola", "full/rte"])
    config = changed(config, "experiment.zero_shot.normalise", {"cola": {"random": 0, "best": 9}})
    for keys in ({"tasks": {"rte": {}, "cola": None}}, {"only": ["rte"]}):
        less = parse(merge(config, {"experiment": keys})).experiment
        assert [*less.tasks] == ["rte"] and less.keep == ["full/rte"]
        assert "cola" not in {**less.zero_shot_tasks, **less.zero_shot.normalise}
    none = parse(changed(config, "experiment.zero_shot", None))
    assert [*none.examples()] == ["rte", "cola"] and not Plan(none).grid().zero_shot.tasks


@pytest.mark.parametrize("name", NAMES)
def test_the_own_task_of_the_docs_alone_runs_with_each_config_and_so_does_a_run_without_a_task(
    name,
):
    page = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
    own = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", page, re.S)[1])
    assert own["experiment"]["only"] == ["reviews"]
    less = {"experiment": {"tasks": {"rte": None}}}
    for keys in (own, less) if name != "paper" else (own,):  # whose file names no task to drop
        config = parse(merge(shipped(name), keys))
        plan = Plan(config)
        assert not list(run_faults(plan))
        assert not any(list(study_faults(plan, study)) for study in config.experiment.studies)
        assert "rte" not in config.experiment.tasks and parse(yaml.safe_load(as_yaml(config)))
        if config.experiment.world:  # the rows, or of one's own task the books
            assert "synthetic" in plan.grid().scale


def test_a_study_whose_tasks_are_all_dropped_has_as_many_others():
    none = {"experiment": {"tasks": {"mnli": None, "race": None}}}
    studies = parse(merge(shipped(), none)).experiment.studies
    assert studies["layer_transfer"].tasks == ["snli", "qqp"]
    assert studies["pretraining_length"].tasks == ["cola", "sst2"]  # without race


@pytest.mark.parametrize("ways", itertools.product([".", ":"], repeat=2))
def test_a_later_file_changes_a_line_whichever_way_its_keys_are_written(ways, tmp_path):
    files = [shipped()]
    for epochs, way in zip((7, 9), ways, strict=True):
        line = {"finetune.epochs": epochs} if way == "." else {"finetune": {"epochs": epochs}}
        own = {"ablation": {"Word vectors": line}, "mine": {"a": copy.deepcopy(line)}}
        files.append({"experiment": {"studies": _lines(own)}})
    paths = [write(tmp_path / f"{i}.yaml", of) for i, of in enumerate(files)]
    studies = parse(read(paths)).experiment.studies
    for line in (studies["ablation"].lines["Word vectors"], studies["mine"].lines["a"]):
        assert line.overlay["experiment.finetune.epochs"] == 9


def test_a_later_file_takes_out_the_lines_of_an_earlier_one(tmp_path):
    earlier = {"mine": {"a.b": {"n_transfer": 3}, "c": {"n_transfer": 4}}}
    earlier |= {"ablation": {"Word vectors": {"n_transfer": 1}, "deep": {"n_transfer": 2}}}
    later = {"mine": {"a.b": None}, "ablation": {"Word vectors": None, "deep": None}}
    files = [shipped(), *({"experiment": {"studies": _lines(of)}} for of in (earlier, later))]
    paths = [write(tmp_path / f"{i}.yaml", of) for i, of in enumerate(files)]
    studies = parse(read(paths)).experiment.studies
    assert [*studies["mine"].lines] == ["c"]
    assert "deep" not in studies["ablation"].lines and not studies["ablation"].lines["Word vectors"]
    assert "deep" in parse(read([*paths, paths[1]])).experiment.studies["ablation"].lines
    dropped = "experiment={studies: {knockout_each: {lines: {no remarks: null}}}}"
    knockout = parse(read(paths[:1], [dropped])).experiment.studies["knockout_each"]
    assert "no remarks" not in knockout.lines


def _lines(studies):
    return {name: {"heading": name, "lines": lines} for name, lines in studies.items()}


def test_a_task_of_ones_own_is_asked_by_its_prompt_and_takes_its_files_as_they_are_named():
    own = {"kind": "pair", "files": "rows.csv", "labels": ["no", "yes"]}
    own |= {"prompt": "{text} {second}"}
    config = merge(small(), {"experiment": {"tasks": {"mine": own}, "only": ["mine"]}})
    found = parse(config)
    assert [*found.zero_shot("lstm").prompts] == [*found.examples()] == ["mine"]
    assert found.prepare("mine").carve == {"train": 0.8, "test": 0.2}
    assert found.prepare("mine").own.prompt is None  # another prompt prepares no rows anew
    assert raw_files(found, "mine") == ["rows.csv"]
    (line,) = missing_data(found, ["mine"])
    assert line == "experiment.tasks.mine: no file rows.csv; give its path in files"
    assert parse(yaml.safe_load(as_yaml(found))) == found
