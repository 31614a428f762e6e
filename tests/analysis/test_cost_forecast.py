"""The forecast of a config's cost: what is counted, and that measured paces are multiplied."""

import json

import pandas as pd
import pytest

from gpt1.settings import ModelSettings
from tests.support.programs import call
from tests.workflow.configs import ROOT
from workflow.analysis import cost, cost_against, flops, measure, workload
from workflow.analysis.table import Table
from workflow.configuration.read import parse, read

WORLD, PAPER = (ROOT / f"workflow/config/{name}.yaml" for name in ("world", "paper"))


@pytest.fixture
def world(tmp_path):
    """The default config, its results elsewhere."""
    return parse(read([WORLD]) | {"results": "nothing/here"})


@pytest.fixture
def paces(monkeypatch):
    """Paces that are given, not measured: an update 1 s, a row 0.01 s, a start 2 s."""
    monkeypatch.setattr(measure, "pretraining", lambda *_: 1.0)
    monkeypatch.setattr(measure, "fine_tuning", lambda *_: measure.Pace(1.0, 0.01))
    monkeypatch.setattr(measure, "start", lambda: 2.0)


def test_the_rows_of_the_world_are_expected_as_it_makes_them(world):
    size = workload.task_size(world, "rte")
    assert (size.train, size.select, size.report, size.counted) == (562, 218, 1000, False)
    race = workload.task_size(world, "race")
    assert (race.train, race.select, race.report) == (706, 274, 2000)
    story = workload.task_size(world, "story_cloze")
    assert (story.train, story.select, story.report) == (800, 200, 1000)


def test_published_rows_and_limits():
    values = read([PAPER]) | {"results": "nothing/here", "data": "folder"}
    size = workload.task_size(parse(values), "rte")
    assert (size.train, size.select, size.report) == (2241, 249, 277)
    values["experiment"]["tasks"] = {"rte": {"limit_train": 300, "limit_report": 50}}
    values["experiment"]["zero_shot"] = {"tasks": {"cola": {}}}
    size = workload.task_size(parse(values), "rte")
    assert (size.train, size.select, size.report) == (270, 30, 50)


LENGTHS = {  # mean tokens of an input: of the embedded world, and as published
    **{"snli": (16, 27), "mnli": (16, 38), "qnli": (18, 50), "rte": (17, 71), "scitail": (14, 40)},
    **{"race": (31, 380), "story_cloze": (33, 65), "mrpc": (19, 52), "qqp": (20, 32)},
    **{"stsb": (20, 28), "sst2": (12, 13), "cola": (12, 11)},
}


def test_the_lengths_that_are_expected_before_a_task_is_encoded(world):
    published = parse(read([PAPER]) | {"results": "nothing/here", "data": "folder"})
    for name, lengths in LENGTHS.items():
        found = tuple(workload.task_size(config, name).length for config in (world, published))
        assert found == lengths, name


def test_encoded_rows_are_counted(tmp_path):
    def split(role, rows, length):
        lengths = {str(length): rows}
        return {"role": role, "rows": rows, "examples": "", "lengths": lengths, "n_ctx_needed": {}}

    path = tmp_path / "encoded" / "rte.json"
    path.parent.mkdir()
    splits = {"train": split("train", 90, 30), "select": split("select", 10, 30)}
    path.write_text(json.dumps({"splits": splits | {"dev": split("report", 40, 99)}}))
    config = parse(read([WORLD])).model_copy(update={"results": str(tmp_path)})
    assert workload.task_size(config, "rte") == workload.TaskSize(90, 10, 40, 30, True)


def test_runs_and_updates_follow_from_the_grid(world):
    works = {(w.arch, w.task, w.aux): w for w in workload.fine_tuning(world)}
    assert len(works) == 2 * 12 * 2
    # Six numbers of layers and the shuffled books with the auxiliary loss, two seeds of each.
    assert works["transformer", "rte", "on"].runs == 14
    assert works["transformer", "rte", "off"].runs == 4
    assert works["lstm", "rte", "on"].runs == 4
    epochs = world.finetune("transformer", "rte", "on").epochs
    assert works["lstm", "rte", "on"].updates == 562 // 8 * epochs
    assert works["lstm", "rte", "on"].scored == 218 * (epochs + 1) + 1000 + 100
    race = works["transformer", "race", "on"]
    assert race.tokens(8) == race.runs * race.updates * 8 * 4 * race.size.length


def test_paces_are_multiplied(world, paces):
    rows = {(row.stage, row.model): row for row in cost.forecast(world)}
    pretraining = rows["pre-training", "transformer"]
    assert (
        pretraining.runs == 3 and pretraining.updates == 9000
    )  # two seeds, and the shuffled books
    heldout = 9 * 20_000 / (16 * 64) / 3
    assert pretraining.seconds == pytest.approx(3 * (3000 + heldout))
    model = world.pretrain("transformer", 0).model
    per_token = flops.per_token(model, cost.n_vocab(world), 64)
    assert pretraining.flops == pytest.approx(9000 * 16 * 64 * per_token)
    works = [work for work in workload.fine_tuning(world) if work.arch == "lstm"]
    seconds = sum(work.runs * (work.updates + 0.01 * work.scored) for work in works)
    assert rows["fine-tuning", "lstm"].seconds == pytest.approx(seconds)
    starting = rows["starting processes", ""]
    n = workload.n_jobs(world)
    assert starting == cost.Forecast("starting processes", "", n, 0.0, 0.0, 0.0, seconds=2 * n)


def test_the_page_adds_up_and_has_no_mfu_on_a_cpu(world, paces):
    rows = cost.forecast(world)
    page = cost.page(rows, world)
    assert "core-hours" in page and "MFU" not in page
    assert f"{sum(row.seconds for row in rows) / 3600:.2f}" in page
    assert "0 of 12 tasks are counted" in page


@pytest.fixture
def run(tmp_path):
    """The costs of a finished run: by stage 1,000, 500, 100 and 300 seconds of jobs."""
    seconds = {"pre-training": 1000, "fine-tuning": 500, "data": 100, "tables": 300}
    frame = pd.DataFrame(
        [(stage, "x", n, None) for stage, n in seconds.items()]
        + [("pre-training", None, None, 900)],  # of a language model: inside its loop
        columns=["stage", "job", "job_seconds", "train_seconds"],
    )
    Table(frame, ["# Costs"]).write(tmp_path / "cost.csv")
    return tmp_path


def test_a_forecast_is_held_to_a_finished_run(world, run):
    rows = [
        cost.Forecast("pre-training", "transformer", 1, seconds=700),
        cost.Forecast("pre-training", "lstm", 1, seconds=200),
        cost.Forecast("fine-tuning", "transformer", 1, seconds=650),
        cost.Forecast("zero-shot", "lstm", 1, seconds=30),  # of which the run has nothing
        cost.Forecast("starting processes", "", 9, seconds=170),
    ]
    frame = cost.against(rows, world, run)
    assert frame["error"].to_dict() == pytest.approx(
        {"pre-training": -0.1, "fine-tuning": 0.3, "the rest": -0.5, "all": 1750 / 1900 - 1}
    )
    assert (frame["run"].iloc[:-1].sum(), frame["run"]["all"]) == (1900, 1900)
    page = cost_against.page(frame, run)
    assert "+30%" in page and ": within 25% of the run" in page
    far = cost.against([cost.Forecast("pre-training", "", 1, seconds=9000)], world, run)
    assert "not within 25%" in cost_against.page(far, run)
    runtime = world.runtime.model_copy(update={"pretrain_threads": 2})
    two = cost.against(rows, world.model_copy(update={"runtime": runtime}), run)
    assert two.loc["pre-training", "run"] == 2000  # core-seconds


def test_the_command_compares_and_wants_a_finished_run(run, paces):
    words = ["--configfile", str(WORLD), "--against"]
    done = call(cost.main, *words, run)
    assert "core-hours" in done.stdout and "forecast, core-s" in done.stdout
    done = call(cost.main, *words, run / "nothing")
    assert done.returncode == 1 and "cost.csv: no such file; make it first" in done.stderr


def test_mfu_is_given_for_a_known_card_alone(world, paces, monkeypatch):
    config = world.model_copy(
        update={"runtime": world.runtime.model_copy(update={"device": "cuda"})}
    )
    rows = cost.forecast(world)
    for card, shown in (("NVIDIA H100 80GB HBM3", True), ("Some Card 3000", False)):
        monkeypatch.setattr(cost.torch.cuda, "get_device_name", lambda card=card: card)
        page = cost.page(rows, config)
        assert "GPU-hours" in page and ("MFU" in page) == shown


def test_a_wrong_config_is_told_without_a_traceback(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("experimental: {}\n")
    with pytest.raises(SystemExit, match="experimental"):
        call_main(path)


def call_main(path):
    from unittest.mock import patch

    with patch("sys.argv", ["cost", "--configfile", str(path)]):
        cost.main()


def test_real_updates_are_timed(world):
    size = workload.TaskSize(20, 5, 10, 12.0, False)
    for arch in ("transformer", "lstm"):
        for task in ("cola", "story_cloze"):
            pace = measure.fine_tuning(world, arch, task, "on", size, 300)
            assert 0 < pace.row < pace.update < 5
    assert 0 < measure.pretraining(world, "lstm", 300) < 20


def test_of_a_large_update_a_part_is_timed():
    gpt1 = ModelSettings()
    assert measure.part_of(32, 71, gpt1, 40_478, "cpu") == 1
    assert measure.part_of(32, 71, gpt1, 40_478, "cuda:0") == 32
    tiny = ModelSettings.model_validate({"n_ctx": 64, "shape": {"n_embd": 12, "n_ff": 48}})
    assert measure.part_of(8, 20, tiny, 1000, "cpu") == 8


@pytest.mark.parametrize("words", [["--configfile", str(WORLD), "--config", "data"]])
def test_a_wrong_pair_is_told(words):
    with pytest.raises(SystemExit):
        call(cost.main, *words)


def test_a_choice_and_an_order_of_a_similarity_are_sequences():
    wanted = {"race": 4, "story_cloze": 2, "mrpc": 2, "stsb": 2, "rte": 1, "cola": 1}
    assert {task: workload.sequences(task) for task in wanted} == wanted
