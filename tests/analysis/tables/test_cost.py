"""The costs of a run: FLOPs by the stated rule, training apart from the rest of the jobs."""

import json
from collections import Counter

import pytest

from gpt1.settings import LSTMShape, ModelSettings
from tasks.common.errors import InputError
from tests.analysis.conftest import PROCESSOR, make_grid, write_encoded
from workflow.analysis import flops, report
from workflow.analysis.table import read_csv
from workflow.analysis.tables import cost

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
BLOCKS = 12 * (4 * 768**2 + 2 * 768 * 3072)


def benchmark(results, name, seconds, cpu, rss):
    path = results / "benchmarks" / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEAD}{seconds}\t0:00:01\t{rss}\t-\t-\t-\t0\t0\t90.0\t{cpu}\n")


def test_gpt1_has_753_million_flops_a_token():
    model = ModelSettings(lm_softmax="tokens_only")
    assert flops.per_token(model, 40_478, 512) / 1e6 == pytest.approx(753, abs=1)
    without = flops.per_token(model, 40_478, 512, lm_loss=False)
    assert without == 6 * BLOCKS + 12 * 12 * 512 * 768
    positions = flops.per_token(ModelSettings(), 40_478, 512) - flops.per_token(model, 40_478, 512)
    assert positions == 6 * 512 * 768  # the authors' softmax covers them too


def test_an_lstm_has_its_gates_its_map_and_its_softmax():
    model = ModelSettings(shape=LSTMShape(n_embd=10, n_hidden=20))
    assert flops.per_token(model, 97, 64) == 6 * (4 * 20 * 30 + 20 * 10 + 100 * 10)
    assert flops.per_token(model, 97, 64, lm_loss=False) == 6 * 4 * 20 * 30


def test_jobs_are_summed_by_rule(tmp_path):
    benchmark(tmp_path, "finetune_ablation_lstm/rte", 10, 8, 300)
    benchmark(tmp_path, "finetune_ablation_lstm/cola", 20, 18, 400)
    benchmark(tmp_path, "finetune_lm_coef_lstm/cola", 99, 18, 400)  # of a study that is not made
    benchmark(tmp_path, "finetune_kept/full/cola", 6, 5, 200)
    benchmark(tmp_path / "variants" / "pretrain.shuffled-words", "pretrain/seed-0", 3, 3, 90)
    benchmark(tmp_path / "variants" / "other", "pretrain/seed-0", 99, 3, 90)
    benchmark(tmp_path, "world", 5, 4, "-")
    benchmark(tmp_path, "study/lm_coef", 7, 6, 500)
    benchmark(tmp_path, "tokenizer", 5, 4, 3)
    log = tmp_path / "logs" / "tokenizer.log"
    log.parent.mkdir()
    log.write_text("6,000 merges\npeak memory: 98 MB\npeak memory: 97 MB\n")
    log.with_name("world.log").write_text("peak memory: 60 MB\n")  # ended before any sample
    table = cost.jobs(tmp_path, make_grid("rte", controls=("shuffled",))).set_index("job")
    numbers = ["runs", "job_seconds", "peak_mb"]
    assert table.loc["finetune_ablation_lstm", numbers].tolist() == [2, 30, 400]
    assert table["stage"].to_dict() == {
        "finetune_ablation_lstm": "fine-tuning", "finetune_kept": "fine-tuning",
        "world": "data", "tokenizer": "data", "pretrain": "pre-training"
    }  # fmt: skip
    assert table.loc["pretrain", "job_seconds"] == 3
    assert table.loc["world", "peak_mb"] == 60
    assert table.loc["tokenizer", "peak_mb"] == 98  # of which Snakemake's sample saw 3
    again = f"{HEAD}50\t0:00:50\t700\t-\t-\t-\t0\t0\t90.0\t8\n{WHOLE.removeprefix(HEAD)}"
    (tmp_path / "benchmarks" / "tokenizer.tsv").write_text(again)  # the last attempt counts
    table = cost.jobs(tmp_path, make_grid("rte")).set_index("job")
    assert table.loc["tokenizer", numbers].tolist() == [1, 10, 300]
    assert cost.jobs(tmp_path / "nothing", make_grid("rte")).empty


WHOLE = f"{HEAD}10\t0:00:01\t300\t-\t-\t-\t0\t0\t90.0\t8\n"


@pytest.mark.parametrize(
    "cut", ["", HEAD[:-1], HEAD, WHOLE[:-1], f"{HEAD}ten\n", "x\n1\n", "\n", "\xff\n", "s\n-\n"]
)
def test_a_benchmark_that_was_cut_is_one_line(tmp_path, cut):
    benchmark(tmp_path, "world", 5, 4, 3)
    path = tmp_path / "benchmarks" / "prepare" / "rte.tsv"
    path.parent.mkdir()
    path.write_text(WHOLE)
    assert len(cost.jobs(tmp_path, make_grid("rte"))) == 2
    path.write_text(cut, encoding="latin-1")
    with pytest.raises(InputError, match=r"prepare/rte\.tsv: not what Snakemake measures .*delete"):
        cost.jobs(tmp_path, make_grid("rte"))


@pytest.fixture
def costed(run_of):
    """A finished run whose last checkpoints say what the models are, with two benchmarks."""
    results, grid = run_of("rte", "mnli")
    for model in grid.models():
        path = model.facts(results, grid.updates[-1])
        shape = {"n_layer": 1, "n_embd": 8, "n_hidden": 16} if model.arch == "lstm" else {
            "n_layer": 12, "n_embd": 16, "n_head": 2, "n_ff": 64
        }  # fmt: skip
        facts = {"n_vocab": 100, "model": {"n_ctx": 64, "shape": shape}}
        path.write_text(json.dumps(json.loads(path.read_text()) | facts))
    for task, length in (("rte", 20), ("mnli", 100)):
        write_encoded(results, task, train={"lengths": {str(length): 5}})
    benchmark(results, "finetune_ablation_transformer/rte", 1000, 900, 500)
    benchmark(results, "zero_shot/lstm/0", 7, 6, 200)
    return results, grid


def test_costs_add_up(costed):
    results, grid = costed
    frame = report.build("cost", results, grid).frame
    cells = frame[frame["stage"].eq("fine-tuning") & frame["job"].isna()]
    assert len(cells) == 3 * len(grid.cells())
    assert (cells["train_tokens"] == 120_000).all() and (cells["peak_mb"] == 410.5).all()
    assert list(cells["train_seconds"][:3]) == pytest.approx([3.5, 3.6, 3.7])
    model = ModelSettings.model_validate(
        {"n_ctx": 64, "shape": {"n_layer": 12, "n_embd": 16, "n_head": 2, "n_ff": 64}}
    )
    keyed = cells.groupby(["arch", "task", "aux", "n_transfer"])["flops"].sum()
    for task, time in (("rte", 20), ("mnli", 64)):  # no more than the window
        for aux in ("on", "off"):
            expected = 360_000 * flops.per_token(model, 100, time, aux == "on")
            assert keyed["transformer", task, aux, "12"] == pytest.approx(expected)
    pretrained = frame[frame["stage"] == "pre-training"]
    assert {*cells["cpu"], *pretrained["cpu"]} == {PROCESSOR}
    assert len(pretrained) == 4 and set(pretrained["train_tokens"]) == {3000 * 2560}
    by_arch = pretrained.groupby("arch")["flops"].agg(["min", "max"])
    assert by_arch.loc["lstm"].gt(0).all()
    expected = 3000 * 2560 * flops.per_token(model, 100, 64)  # with the softmax
    assert by_arch.loc["transformer"].tolist() == pytest.approx([expected] * 2)
    assert frame["job_seconds"].sum() == 1007


def test_the_page_has_what_is_outside_of_training_and_a_line_for_each_sweep(costed):
    results, grid = costed
    table = report.build("cost", results, grid)
    stages, _, fine_tuning = table.markdown.partition("## Fine-tuning")
    inside = table.frame["train_seconds"].sum()
    assert f"1,007 s of jobs, {inside:,.0f} s of them in training loops" in stages
    assert "nan" not in table.markdown and f"Trained on: {PROCESSOR}." in stages
    assert "CPU" not in stages and "cpu_seconds" not in table.frame  # samples that lack the end
    lines = fine_tuning.splitlines()
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines if "|" in line]
    head, ruler, *found = rows
    assert [dashes.endswith(":") for dashes in ruler] == [False] * 4 + [True] * 4  # to the right
    assert head == ["task", "arch", "corpus", "aux", "runs", "tokens", "seconds", "peak MB"]
    of = [
        (c.task, line.arch, line.corpus, line.aux) for c in grid.cells() if (line := grid.line(c))
    ]
    sweeps = {*of}
    assert {tuple(row[:4]) for row in found} == sweeps and len(found) == len(sweeps)
    cells = Counter(of)
    for row in found:
        runs = 3 * cells[tuple(row[:4])]
        assert row[4:] == [str(runs), "120000", "3.6", "410.5"]


def test_a_run_of_nothing_has_an_empty_table(tmp_path):
    grid = make_grid("rte")
    table = report.build("cost", tmp_path, grid)
    assert table.frame.empty and "No benchmarks" in table.markdown
    table.write(tmp_path / "cost.csv")
    assert read_csv(tmp_path / "cost.csv").empty
