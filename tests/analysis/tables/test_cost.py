"""The costs of a run: FLOPs by the stated rule, training apart from the rest of the jobs."""

import pytest

from gpt1.settings import LSTMShape, ModelSettings
from tasks.common.errors import InputError
from tests.analysis.conftest import make_grid
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


def test_a_run_of_nothing_has_an_empty_table(tmp_path):
    grid = make_grid("rte")
    table = report.build("cost", tmp_path, grid)
    assert table.frame.empty and "No benchmarks" in table.markdown
    table.write(tmp_path / "cost.csv")
    assert read_csv(tmp_path / "cost.csv").empty
