"""What `python -m workflow.show` prints of a folder of results."""

import os
from datetime import datetime

import pandas as pd
import pytest
import yaml

from tests.support.programs import call
from tests.support.tables import write_table
from tests.workflow.configs import ROOT, shipped
from tests.workflow.test_progress import HEAD, PRETRAIN, WORLD, write_log
from workflow import show

NOW = datetime(2026, 11, 22, 10, 5)
CLAIM = {"section": "5", "contrast": "x", "p": 0.1, "n_seeds": 2, "paper": None, "needs": None}
FRAMES = {
    "positive_control": [
        {"check": "gain", "wanted": "at least 15", "ours": 44.05, "ci_low": 30.0, "ci_high": 57.0}
        | {"met": "yes"},
        {"check": "rank", "wanted": "at least 0.9", "ours": 0.5, "met": "no"},
        {"check": "LSTM", "wanted": "told", "ours": 31.5, "met": None},
    ],
    "claims": [
        CLAIM
        | {"statement": "It helps", "tasks": "mean of 8", "ours": 50.99}
        | {"ci_low": 31.2, "ci_high": 70.7, "verdict": "reproduced"},
        *(
            CLAIM | {"statement": "It helps each", "tasks": t, "ours": 1.0, "verdict": verdict}
            for t, verdict in (("RTE", "undecided"), ("CoLA", "reproduced"), ("MRPC", "undecided"))
        ),
    ],
    "main": [
        {"task": "rte", "metric": "accuracy", "split": "dev", "aux": "on", "source": "this run"}
        | {"mean": 85.04, "sd": 1.25, "paper": 56.0, "majority": 50.0, "bag_of_words": 64.1}
        | {"alarms": "majority_rate:1/2"},
        {"task": "cola", "metric": "matthews", "split": "test", "aux": None, "source": "paper"}
        | {"mean": None, "paper": 45.4, "alarms": None},
    ],
    "ablation": [
        {"variant": variant, "task": task, "mean": mean, "paper": paper, "bag_of_words": 47.5}
        for variant, mean, paper in (
            *(("Transformer w/ aux LM (full)", 86.7, 74.7), ("LSTM w/ aux LM", 47.6, 69.1)),
            *(("LSTM w/o aux LM", 58.2, None), ("w/ aux LM, shuffled books", 49.3, None)),
        )
        for task in ("avg", "rte")
    ],
    "layer_transfer": [
        {"arch": "transformer", "aux": "on", "task": "mean", "split": split, "n_transfer": n}
        | {"mean": mean}
        for n, mean, split in (
            *(("12", 87.1, "reported"), ("0", 52.25, "reported"), ("none", 43.0, "reported")),
            ("none", 99.9, "train"),
        )
    ],
    "zero_shot": [
        {"arch": "lstm", "task": "sst2", "update": update, "relative": relative, "mean": 49.2}
        for update, relative in ((0, -0.001), (3000, 0.64))
    ],
    "pretraining": [
        {"arch": "lstm", "update": update, "mean": mean}
        for update, mean in ((0, 1328.1), (30, 9.9))
    ],
}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder with the tables that are shown, in a project of its own; a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    folder = tmp_path / "made"
    folder.mkdir()
    for name, rows in FRAMES.items():
        write_table(pd.DataFrame(rows), folder / f"{name}.csv")
    return folder


def lines(*words):
    done = call(show.main, *words)
    assert done.returncode == 0, done.stderr
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        "gain at least 15 44.05 [30.00, 57.00] yes",
        "rank at least 0.9 0.50 no",
        "LSTM told 31.50",
        "It helps mean of 8 51.0 [31.2, 70.7] reproduced",
        "rte accuracy, dev 85.0 ± 1.2 ! 56.0 50.0 64.1",
        "paper's mean 86.7 47.6 49.3 47.5",
        "aux LM none 0 12",
        "on 43.0 52.2 87.1",
        "task 0 3000",
        "sst2 0.00 0.64",
        "lstm 1328.1 9.9",
    ],
)
def test_verdicts_and_main_tables_are_shown(results, line):
    assert line in lines(results)


def test_a_claim_about_several_tasks_is_counted_over_them(results):
    shown = lines(results)
    at = next(i for i, line in enumerate(shown) if line.startswith("It helps each 3 tasks"))
    assert shown[at].endswith("undecided 2") and shown[at + 1] == "reproduced 1"


def test_what_is_missing_comes_with_the_command_that_makes_it(results, monkeypatch):
    shown = lines(results)
    assert f"snakemake --cores all {results}/cells.csv" in shown
    assert f"snakemake --cores all {results}/figures/ablation.png" in shown
    assert f"snakemake --cores all {results}/figures/heat_map.png" in shown
    assert f"snakemake --cores all {results}/index.html" in shown
    assert not any(line.endswith("/claims.csv") for line in shown)
    assert "with the --configfile and --config of the last run" in shown
    monkeypatch.chdir(ROOT)
    assert show.options(ROOT / "results") == ""
    assert show.options(ROOT / "results" / "smoke") == " --configfile workflow/config/smoke.yaml"
    for name in show.expected():
        (results / name).parent.mkdir(exist_ok=True)
        (results / name).touch()
    assert list(show.missing_lines(results, None)) == ["Nothing that a run makes is missing."]


def write_study(results, name, rows):
    """A study's table, and its Markdown with the heading."""
    folder = results / "studies"
    folder.mkdir(exist_ok=True)
    write_table(pd.DataFrame(rows), folder / f"{name}.csv")
    (folder / f"{name}.md").write_text(f"# Heading of {name}\n")


def test_a_study_that_was_made_is_shown_and_the_page_that_lacks_it_is_told(results):
    rows = [
        {"line": line, "value": value, "task": task, "mean": mean}
        for line, value, mean in (("a", 0.5, 70.0), ("a", 3, 81.25), ("b", None, 9.0))
        for task, mean in (("rte", 1.0), ("mean", mean))
    ]
    write_study(results, "mine", rows)
    write_study(results, "plain", [{"line": "c", "value": None, "task": "rte", "mean": 12.5}])
    write_study(results, "planted", [{"count": 4, "task": "rte", "mean": 12.5}])
    page = results / "index.html"
    page.touch()
    os.utime(page, (0, 0))
    shown = lines(results)
    at = shown.index("Heading of mine")
    table = ["mean of its tasks a b", "0.5 70.0 –", "3 81.2 –", "beside – 9.0"]
    assert [line for line in shown[at + 1 : at + 8] if line and "─" not in line] == table
    assert "c 12.5" in shown and "Heading of planted" in shown
    assert f"More: {results}/studies/mine.md" in shown
    at = shown.index("The page is older than mine, plain, planted:")
    assert shown[at + 1] == f"snakemake --cores all {results}/index.html"
    assert "Nothing that a run makes is missing." not in shown


def test_the_studies_of_the_config_that_were_not_made_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(show, "HERE", tmp_path)
    (tmp_path / "config").mkdir()
    config = shipped() | {"results": str(tmp_path / "made")}
    studies = config["experiment"]["studies"]
    config["experiment"]["studies"] = {name: studies[name] for name in ("decay", "lm_coef")}
    (tmp_path / "config" / "world.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "made").mkdir()
    write_study(tmp_path / "made", "decay", [])
    told = list(show.missing_lines(tmp_path / "made", None))
    assert told[-2:] == [
        "Studies that were not made: lm_coef. Each is asked for by its name:",
        f"  snakemake --cores all {tmp_path}/made/studies/lm_coef.csv",
    ]


def test_at_80_columns_no_number_and_no_word_is_broken(results, monkeypatch):
    updates = (0, 30, 58, 112, 216, 417, 805, 1554, 3000)
    rows = [
        {"arch": arch, "task": "story_cloze", "update": update, "relative": -0.02}
        for arch in ("transformer", "lstm")
        for update in updates
    ]
    write_table(pd.DataFrame(rows), results / "zero_shot.csv")
    layers = [
        {"arch": "transformer", "aux": "on", "task": "mean", "split": "reported", "mean": 99.9}
        | {"n_transfer": n}
        for n in ("none", *range(13))
    ]
    write_table(pd.DataFrame(layers), results / "layer_transfer.csv")
    names = ("(full)", "w/o pre-training", "w/o aux LM", "w/ aux LM, shuffled books")
    variants = [f"Transformer {name}" for name in names] + ["LSTM w/ aux LM"]
    ablation = [
        {"variant": variant, "task": "story_cloze", "mean": 100.0, "paper": 74.7}
        | {"bag_of_words": 47.5}
        for variant in variants
    ]
    write_table(pd.DataFrame(ablation), results / "ablation.csv")
    rows = [
        {"line": line, "value": value, "task": "rte", "mean": 37.5}
        for line in ("body frozen", "fine-tuned, w/o aux LM")
        for value in range(13)
    ]
    write_study(results, "probing", rows)
    monkeypatch.setenv("COLUMNS", "80")
    shown = lines(results)
    assert " ".join(["story_cloze", *["-0.02"] * len(updates)]) in shown
    assert " ".join(["on", *["99.9"] * 14]) in shown
    assert " ".join(["story_cloze", *["100.0"] * 5, "47.5"]) in shown
    assert [f"{value} 37.5 37.5" in shown for value in range(13)] == [True] * 13
    printed = call(show.main, results).stdout.partition("Not there")[0].splitlines()
    assert max(len(line) for line in printed if not line.startswith("More:")) <= 80
    words = {word for line in shown for word in line.split()}
    assert {"pre-training", "shuffled", "fine-tuned,"} <= words


def test_a_run_under_way_is_told_first(results, tmp_path):
    write_log(tmp_path, "1", HEAD + WORLD + PRETRAIN)
    (results / "benchmarks").mkdir()
    bench = pd.DataFrame({"s": [30.0], "cpu_time": [29.0], "max_rss": [100.0]})
    bench.to_csv(results / "benchmarks" / "finetune_lstm_endpoints.tsv", sep="\t", index=False)
    (results / "benchmarks" / "pretrain.tsv").touch()  # Snakemake is writing it
    screens = show.screens(results, NOW)
    assert str(next(screens)).splitlines() == [
        "A run is under way, its log is 3 min old: 2 of 11 jobs done.",
        "Now: pretrain transformer, seed 0.",
        "To do: pre-training 1, fine-tuning 6, tables 1 jobs.",
        "Time left: about 3 min, but none of table_main has finished yet.",
    ]
    assert "which was: snakemake --cores 2 all --config results=made" in lines(results)[-2]


def test_a_study_under_way_has_its_stage_and_its_time(results, tmp_path):
    head = HEAD.replace("world  ", "study  ").replace("pretrain   ", "finetune_books")
    write_log(
        tmp_path, "1", head + "[Sun Nov 22 10:00:20 2026]\nJob 6: study x: made/studies/x.csv\n"
    )
    jobs = ("benchmarks/study/y", "books/b/benchmarks/finetune_books/c", "benchmarks/table_main")
    for name in (*jobs, "benchmarks/finetune_lstm_endpoints"):
        path = results / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("s\tcpu_time\tmax_rss\n60\t9\t1\n")
    told = str(next(show.screens(results, NOW))).splitlines()
    assert told[2] == "To do: tables 2, fine-tuning 8 jobs."
    assert told[3] == f"Time left: about {show.duration(10 * 60)}."


def test_the_time_left_is_by_the_mean_of_earlier_jobs(results, tmp_path):
    write_log(tmp_path, "1", HEAD + WORLD)
    earlier = {"pretrain/a": 100, "pretrain/b": 140, "table_main/c": 140}
    for name, seconds in earlier.items():
        path = results / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tcpu_time\tmax_rss\n{seconds}\t9\t1\n")
    told = str(next(show.screens(results, NOW))).splitlines()[-1]
    expected = show.duration(2 * 120 + 140)  # two jobs of pre-training and a table, one by one
    lacking = "but none of finetune_lstm_endpoints has finished yet"
    assert told == f"Time left: about {expected}, {lacking}."


def test_a_finished_run_is_one_line(results, tmp_path):
    write_log(tmp_path, "1", HEAD + WORLD + "Complete log(s): x\n")
    assert lines(results)[0] == "The last run ended: 1 of 11 jobs done."
    write_log(tmp_path, "2", HEAD + WORLD + "Error in rule pretrain:\nComplete log(s): x\n")
    assert lines(results)[0] == "The last run failed in pretrain: 1 of 11 jobs done."


def test_mistakes_are_one_line(results):
    write_table(pd.DataFrame({"statement": ["x"]}), results / "claims.csv")
    for folder, told in ((results, "claims.csv: no column 'tasks'"), ("none", "no such folder")):
        done = call(show.main, folder)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and told in done.stderr


def test_durations_are_in_words():
    assert [show.duration(s) for s in (5, 119, 600, 8000)] == [
        "5 s",
        "119 s",
        "10 min",
        "2 h 13 min",
    ]
