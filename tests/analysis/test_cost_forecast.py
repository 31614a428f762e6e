"""The forecast of a config's cost: what is counted, and that the timed pace divides it."""

import itertools

import pandas as pd
import pytest
import torch

from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tests.analysis.conftest import write_all, write_answers
from tests.support.programs import refusal
from tests.tasks import conftest as published_files
from tests.workflow.configs import changed, full, shipped, small
from workflow.analysis import cost, flops
from workflow.analysis.sides import of_run
from workflow.configuration.read import as_yaml, parse
from workflow.plan import Plan


@pytest.fixture
def paces(monkeypatch):
    """A pace that is given, not measured: 1 GFLOP a second."""
    monkeypatch.setattr(cost, "pace", lambda *_: 1e9)


def test_pre_training_is_counted_by_its_tokens(paces):
    config = parse(full())
    rows = {(stage, arch): (pflop, hours) for stage, arch, pflop, hours in cost.forecast(config)}
    own = config.pretrain("transformer", 0)
    models = 2 * len(config.experiment.seeds.pretrain)  # of the books, and of shuffled ones
    tokens = models * own.updates * own.batch * own.model.n_ctx
    count = tokens * flops.per_token(own.model, cost.n_vocab(config), own.model.n_ctx)
    pflop, hours = rows["pre-training", "transformer"]
    assert pflop == pytest.approx(count / 1e15) and hours == pytest.approx(count / 1e9 / 3600)
    assert len(rows) == 4


def test_fine_tuning_is_counted_by_cells_seeds_and_rows(paces):
    def pflop(config):
        rows = cost.forecast(parse(config))
        return next(row[2] for row in rows if row[:2] == ("fine-tuning", "lstm"))

    on_all = changed(shipped(), "experiment.studies.layer_transfer.tasks", None)
    base = changed(
        on_all,
        "experiment.studies.layer_transfer.lines",
        {"LSTM w/ aux LM": {"values": ["none", "all"]}, "LSTM w/o aux LM": {"values": ["none"]}},
    )
    n = len(base["experiment"]["seeds"]["finetune"])
    twice = changed(base, "experiment.seeds.finetune", [*range(2 * n)])
    assert pflop(twice) == pytest.approx(2 * pflop(base))
    ends = {"LSTM w/ aux LM": {"values": ["all"]}, "LSTM w/o aux LM": {"values": ["all"]}}
    halves = changed(on_all, "experiment.studies.layer_transfer.lines", ends)
    assert pflop(halves) == pytest.approx(pflop(base) / 2)


def test_rows_are_those_of_the_world_or_the_published_ones_up_to_the_limits():
    config = parse(changed(shipped(), "experiment.tasks.rte", {"limit_train": 9}))
    assert cost.task_size(config, "rte")[0] == 9
    config = parse(changed(shipped(), "experiment.world.rows", {"mnli": 700}))
    assert cost.task_size(config, "mnli")[:2] == (700, 2 * 600)  # matched and mismatched
    config = parse(shipped("paper") | {"data": "folder"})
    assert cost.task_size(config, "rte") == (2490, 277, 71)
    assert cost.task_size(config, "race")[2] == 4 * 380
    assert cost.task_size(config, "stsb")[2] == 2 * 28  # both orders
    config = parse(shipped("gpu") | {"data": "folder"})  # which trains on the dev rows of SNLI
    assert cost.task_size(config, "snli") == (9842, 9824, 27)


def test_a_task_of_the_suite_without_a_length_is_a_line(monkeypatch):
    monkeypatch.delitem(cost.LENGTHS, "rte")
    for config in (shipped("paper") | {"data": "folder"}, shipped()):
        said = refusal(cost.task_size, parse(config), "rte")
        assert said == "rte: not in LENGTHS of workflow/analysis/cost.py; add its tokens"


def test_ones_own_rows_are_counted(tmp_path):
    published_files.write("rte", tmp_path / "RTE")
    mine = {
        "kind": "pair",
        "folder": str(tmp_path / "RTE"),
        "labels": ["entailment", "not_entailment"],
    }
    mine |= {"files": {"train": "train.tsv", "dev": "dev.tsv"}}
    mine |= {"columns": {"text": "sentence1", "second": "sentence2"}}
    config = parse(changed(shipped(), "experiment.tasks.mine", mine))
    train, report, length = cost.task_size(config, "mine")
    assert (train, report) == (10, 10) and 6 < length < 20


@pytest.mark.parametrize(
    "kind, columns, sequences",
    [
        ("similarity", {"text": "a", "second": "b"}, 2),
        ("multiple_choice", {"text": "a", "choices": ["b", "c", "d"]}, 3),
    ],
)
def test_each_choice_and_each_order_of_ones_own_rows_is_a_sequence(
    kind, columns, sequences, tmp_path
):
    words = {name: "one two three four five" for name in "abcd"}
    rows = pd.DataFrame([words | {"label": n % 2} for n in range(20)])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    mine = {"kind": kind, "folder": str(tmp_path), "files": "rows.csv", "columns": columns}
    mine |= {"labels": ["0", "1"]} if kind == "similarity" else {}
    config = parse(changed(shipped(), "experiment.tasks.mine", mine))
    assert cost.task_size(config, "mine")[2] == sequences * (4 + 12)  # of ten words


@pytest.mark.parametrize("arch", ["transformer", "lstm"])
def test_an_update_is_timed(arch):
    assert cost.pace(parse(shipped("smoke")), arch, "finetune", 4, 12, 100) > 0


def test_the_speed_is_that_of_one_of_the_threads(monkeypatch):
    """Each update takes a second: of two threads each does half of it."""
    threads = torch.get_num_threads()

    def pace(stage, **runtime):
        monkeypatch.setattr(cost.time, "perf_counter", itertools.count().__next__)
        config = shipped("smoke") | {"runtime": runtime}
        return cost.pace(parse(config), "lstm", stage, 4, 12, 100)

    assert pace("pretrain") == 2 * pace("pretrain", pretrain_threads=2, finetune_threads=4)
    assert pace("finetune") == 2 * pace("finetune", finetune_threads=2, pretrain_threads=4)
    torch.set_num_threads(threads)


PAPER = ("cost", "--configfile", "workflow/config/paper.yaml", "--config", "data=folder")


@pytest.mark.parametrize("card", ["A100", "312e12"])
def test_a_card_that_is_not_here_is_priced_by_a_share_of_its_peak(card, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [*PAPER, "--card", card, "--mfu", "0.25"])
    cost.main()
    _, *rows, total = map(str.split, capsys.readouterr().out.splitlines())
    pflop, hours = ([float(row[i]) for row in rows] for i in (2, 3))
    assert pflop[0] == pytest.approx(1e6 * 64 * 512 * 753e6 / 1e15, rel=5e-3)
    assert hours == pytest.approx([1e15 * n / (0.25 * 312e12) / 3600 for n in pflop], rel=1e-4)
    assert float(total[1]) == pytest.approx(sum(hours), rel=0.01)


def test_the_disk_space_is_that_of_checkpoints_and_states():
    config = parse(shipped("smoke"))
    # Of a run of it: two transformers (one of shuffled books) and an LSTM, their four checkpoints
    # in two places, and two states of each. The vocabulary is an upper bound here.
    found = 2 * (8 * 233_504 + 665_588 + 666_956) + 8 * 88_376 + 264_116 + 265_476
    assert found <= 1e9 * cost.disk(config) < 1.5 * found


def test_a_study_that_cannot_be_made_is_one_line(monkeypatch):
    studies = "experiment={studies: {ablation: {lines: {a: {foo: 1}}}}}"
    monkeypatch.setattr("sys.argv", [*PAPER, studies, "--card", "A100", "--mfu", "0.25"])
    with pytest.raises(SystemExit, match=r"^error: config: .*foo: unknown key; give one of"):
        cost.main()


CARD = "--card H100 --mfu 0.4"
PEAK = "L4, A10G, A10, or a peak in FLOP/s, 2.2e15"
UNKNOWN = {f"--card={card} --mfu 0.4": PEAK for card in ("B200", "nan", "0", "-5", "inf")}
REFUSED = dict.fromkeys(["", "--card A100", "--mfu 0.4", "--card A100 --mfu 40"], CARD) | UNKNOWN


@pytest.mark.parametrize("options", REFUSED)
def test_a_gpu_that_is_not_here_needs_a_known_name_or_a_speed_and_a_share(
    options, monkeypatch, capsys
):
    monkeypatch.setattr("sys.argv", [*PAPER, *options.split()])
    monkeypatch.setattr(cost.torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as end:
        cost.main()
    assert end.value.code and REFUSED[options] in f"{end.value}{capsys.readouterr().err}"


def test_a_card_is_known_by_the_words_of_its_name():
    names = ("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA L40", "Tesla V100-SXM2-16GB")
    assert [flops.peak(name) for name in names] == [989e12, 312e12, 181e12, None]  # no bfloat16


def test_more_seeds_decide_smaller_differences_by_the_spread_of_a_finished_run(tmp_path):
    config = parse(changed(small(), "experiment.studies", {}))  # Table 5 is the first of them
    grid = Plan(config).grid()
    write_all(tmp_path, grid)
    write_answers(tmp_path, grid)
    (tmp_path / "config.yaml").write_text(as_yaml(config))
    for path in tmp_path.glob("cells/*n_transfer-none/*.json"):  # of another kind
        write_json(path, read_json(path) | {"n_transfer": "none"})
    found, per_model = cost.decided(tmp_path, ["cola", "rte", "not there"])
    assert per_model == 1
    assert [*found] == ["mean of 2", "CoLA", "RTE"] and [*found.index] == [2, 3, 5, 10, 20]
    assert (found.diff().dropna() < 0).all(axis=None) and (found > 0).all(axis=None)
    side = of_run(tmp_path)
    lines = [side.cells[line, "rte"].score for line in ("full", "finetune.lm_coef-0")]
    weighed = [(1.0, {"rte": lines[0]}), (-1.0, {"rte": lines[1]})]
    both = side.pool.estimate(weighed, {"rte": 1.0})
    assert found.loc[5, "RTE"] == pytest.approx(both.decides(5))
    for path in tmp_path.glob("cells/finetune.lm_coef-0/*.json"):
        path.unlink()
    with pytest.raises(InputError, match="several seeds on all of the tasks; give a finished"):
        cost.decided(tmp_path, ["rte"])
    with pytest.raises(InputError, match="nowhere: no such folder; give that of a finished run"):
        cost.decided(tmp_path / "nowhere", ["rte"])


def test_seeds_of_pre_training_cost_a_model_each_and_those_of_fine_tuning_none():
    config = changed(shipped(), "experiment.seeds", {"pretrain": [0, 1], "finetune": [0, 1, 2, 3]})
    hours = pd.Series({"pre-training": 10.0, "fine-tuning": 8.0})
    assert cost.of_n_seeds(hours, parse(config), 5, 2.0) == 5 * (10 / 2 + 2 * 8 / 4)
    assert cost.of_n_seeds(hours, parse(config), 5, 0) == 10 + 5 * 8 / 4
    assert cost.of_n_seeds(hours.drop("pre-training"), parse(config), 5, 0) == 5 * 8 / 4
