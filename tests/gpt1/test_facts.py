"""Facts of the paper and the authors' code that are numbers: settings, schedules, first values."""

import math
import re
from pathlib import Path

import pytest
import torch
import yaml

from gpt1 import finetune
from gpt1.classifier import Classifier
from gpt1.finetune import FineTuning, TaskData
from gpt1.optim import warmup_linear
from gpt1.runtime import Runtime
from gpt1.transformer import parameter_count
from tasks import TASKS, task
from tests.gpt1 import toy

torch.set_num_threads(1)

PAPER = Path(__file__).parents[2] / "workflow/config/paper.yaml"
# Examples to train on, and the last update whose rate still rises (batch 32, three epochs).
RISING = {1497: 0, 2490: 0, 3668: 0, 5749: 1, 8551: 1, 67349: 12, 87866: 16, 108436: 20}
RISING |= {363849: 68, 392702: 73, 549367: 103}


def experiment():
    """The paper's half of the configuration."""
    return yaml.safe_load(PAPER.read_text(encoding="utf-8"))["experiment"]


def test_the_papers_configuration_has_the_papers_model():
    model = experiment()["model"]
    assert model["transformer"] == {"n_layer": 12, "n_embd": 768, "n_head": 12, "n_ff": 3072}
    assert (model["n_ctx"], model["init_std"]) == (512, 0.02)
    assert (model["lstm"]["n_layer"], model["lstm"]["n_hidden"]) == (1, 2048)
    assert (model["embd_dropout"], model["lm_softmax"]) == ("matrix", "all_rows")
    sizes = {k: v for k, v in model["transformer"].items() if k != "n_head"}
    assert parameter_count(40_478, model["n_ctx"], **sizes) == 116_534_784


def test_the_papers_configuration_trains_as_the_paper_says():
    own = experiment()
    before, after = own["pretrain"], own["finetune"]
    assert (before["batch"], before["lr"]["transformer"], before["warmup"]) == (64, 2.5e-4, 2000)
    assert before["warmup"] / before["updates"] == 0.002
    assert (after["batch"], after["epochs"], after["warmup"]) == (32, 3, 0.002)
    assert after["lr"]["transformer"] == 6.25e-5 and after["lm_coef"] == 0.5
    assert before["dropout"] == {"embd": 0.1, "attn": 0.1, "resid": 0.1}
    assert after["dropout"] == {**before["dropout"], "clf": 0.1}
    assert own["optimizer"] == {
        **{"b1": 0.9, "b2": 0.999, "eps": 1e-8},
        **{"l2": 0.01, "vector_l2": False, "max_grad_norm": 1.0},
    }
    assert own["tasks"].keys() == {each.name for each in TASKS} and len(TASKS) == 12


@pytest.mark.parametrize(
    ("update", "share"),
    [(1, 0.32), (10, 0.15), (100, 0.31), (138, 0.36), (1000, 0.8), (3000, 0.98)],
)
def test_the_decay_is_smaller_than_adamws_by_the_bias_correction(update, share):
    correction = math.sqrt(1 - 0.999**update) / (1 - 0.9**update)
    assert correction == pytest.approx(share, abs=0.006)
    p = torch.nn.Parameter(torch.ones(1, 1, dtype=torch.float64))
    adam = finetune.Adam([p], 1.0, lambda x, w: 1.0, 0.002, 10_000)
    adam.updates = update - 1
    adam.step()
    assert float(p.detach()) == pytest.approx(1 - 0.01 * correction, abs=1e-12)


@pytest.mark.parametrize("rows", RISING)
def test_the_warm_up_of_two_thousandths_ends_where_it_does_in_the_authors_code(rows):
    total = rows // 32 * 3
    rates = [warmup_linear(t / total, 0.002) for t in range(total)]
    assert rates[0] == 0.0
    rising = [t for t in range(total) if t / total <= 0.002]
    assert rising[-1] == RISING[rows]
    assert rates.index(max(rates)) in (RISING[rows], RISING[rows] + 1)


@pytest.mark.parametrize(("family", "columns"), [("entailment", 3), ("choice", 1)])
def test_first_values_of_the_classifier(family, columns):
    head = Classifier(family, 4000, 3)
    head.reset(torch.Generator().manual_seed(0))
    assert head.weight.shape == (4000, columns)
    assert float(head.weight.detach().std()) == pytest.approx(0.02, rel=0.05)
    assert torch.equal(head.bias.detach(), torch.zeros(columns))


def test_the_first_epoch_is_also_scored_at_powers_of_two_thousands(monkeypatch):
    assert {1000, 2000, 4000, 8000, 16000, 32000} == finetune.FIRST_EPOCH_EVALS
    monkeypatch.setattr(finetune, "FIRST_EPOCH_EVALS", {1, 3, 6})
    encoded = toy.encoded(task("rte"), train=8, select=4, dev=4)
    data = TaskData.of(encoded, toy.N_VOCAB, toy.N_CTX, 4)
    settings = toy.settings("transformer", batch=2, epochs=2)
    run = FineTuning(data, "transformer", toy.N_VOCAB, settings, None, -1, 0.5, 0, Runtime())
    scored = run.train()["select_by_epoch"]
    assert [each["update"] for each in scored] == [1, 3, 4, 8]


def test_every_test_that_the_readme_names_exists():
    root = Path(__file__).parents[2]
    named = re.findall(r"`(test_\w+)::(test_\w+)`", (root / "gpt1/README.md").read_text())
    assert len(named) > 60
    for module, name in named:
        text = (root / f"tests/gpt1/{module}.py").read_text(encoding="utf-8")
        assert f"def {name}(" in text, f"{module}::{name}"
