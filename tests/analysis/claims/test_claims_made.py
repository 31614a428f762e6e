"""Each claim on evidence that is made so that it holds, so that it does not, and on none."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpt1.cell import Arch
from tests.analysis.conftest import make_cell, make_grid, write
from tests.support.variants import FURTHER_VARIANTS, PAPER_VARIANTS
from tests.workflow.configs import full
from workflow.analysis.claims.evidence import Contrast, Evidence
from workflow.analysis.claims.finding import Finding
from workflow.analysis.claims.judges import Claim, each, mean
from workflow.analysis.claims.paper_claims import CLAIMS, PRETRAINING
from workflow.analysis.paper import (
    EIGHT,
    FITTED,
    FULL,
    LSTM,
    LSTM_NO_AUX,
    NEITHER,
    NO_AUX,
    NO_PRETRAINING,
    SENTENCES_SHUFFLED,
    TRAIN_ROWS,
    VECTORS,
    PaperModel,
)
from workflow.analysis.stats.estimates import SeedPool
from workflow.analysis.stats.samples import Samples
from workflow.analysis.stats.scores import Score
from workflow.configuration.read import parse
from workflow.plan import Plan

OF_GRID = {
    "layers": {"transformer": ["none", 0, 4, 8, 12], "lstm": ["none", 1]},
    "seeds": {"pretrain": [0, 1, 2], "finetune": [0, 1, 2]},
}
GRID = make_grid(*EIGHT, "race", **OF_GRID)
SEEDS = (0, 1, 2)
Effect = Callable[[PaperModel, str], float | None]  # the score of a variant on a task
LONG = {name: 10.0 * 2**i for i, name in enumerate(GRID.tasks)}


@dataclass(frozen=True)
class Made(Evidence):
    """Scores of three seeds about those of an `effect`, curves about a `rise` at each step."""

    effect: Effect = lambda variant, task: None
    rise: float | None = None
    rows: dict[str, int] = field(default_factory=lambda: TRAIN_ROWS)
    lengths: dict[str, float] = field(default_factory=lambda: LONG)

    @property
    def train_rows(self) -> dict[str, int]:
        return self.rows

    @property
    def seeds(self) -> SeedPool:
        variants = PAPER_VARIANTS + FURTHER_VARIANTS
        return SeedPool({of.name: self.heads(of, PRETRAINING) for of in variants})

    def heads(self, variant: PaperModel, contrast: Contrast) -> dict[str, Score | None]:
        return {name: self._head(self.effect(variant, name), name) for name in self.grid.tasks}

    def _head(self, score: float | None, name: str) -> Score | None:
        if score is None:
            return None
        rng = np.random.default_rng(int(100 * score) + len(name))
        scores = score + 0.2 * rng.normal(size=len(SEEDS))
        boot = scores[:, None] + 0.2 * rng.normal(size=50)
        return Score(SEEDS, SEEDS, scores, boot, 1000)

    def zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
        if self.rise is None:
            return {}
        rng = np.random.default_rng(1)
        steps = self.rise + rng.normal(size=(len(SEEDS), 4, 8))
        return dict(enumerate(steps.cumsum(axis=-1)))


made = partial(Made, results=Path("nowhere"), grid=GRID, samples=Samples())


def of(statement: str, run: Evidence) -> list[Finding]:
    """What the claims of this statement find."""
    found = [claim.judge(run, claim) for claim in CLAIMS if claim.statement == statement]
    assert found, statement
    return [one for lines in found for one in lines]


def gain(of: PaperModel, points: float) -> Effect:
    """A variant that has so many points more than all others."""
    return lambda variant, task: 50 + points * (variant == of)


def by_length(points: float) -> Effect:
    """The lead over the LSTM, mostly a lag, grows with the length and scatters by half a point."""
    scatter = {name: 0.5 * (-1) ** i for i, name in enumerate(GRID.tasks)}
    lead = {name: points * np.log2(LONG[name] / 4096) + scatter[name] for name in GRID.tasks}
    return lambda variant, task: 50 + (variant in (FULL, NO_AUX)) * lead[task]


def by_layer(points: float) -> Effect:
    """A score that rises with the layers."""

    def effect(variant: PaperModel, task: str) -> float:
        n_layer = GRID.n_layer[variant.arch]
        return 50 + points * {"none": 0, "all": n_layer}.get(variant.n_transfer, variant.n_transfer)

    return effect


CASES: dict[str, tuple[Callable[[float], Effect], float, float]] = {
    # The effect with which the claim holds, and with which it does not.
    "Pre-training helps on average over the paper's eight tasks": (partial(gain, FULL), 9, -9),
    "The transformer's lead over the LSTM is larger where inputs are longer": (by_length, 3, -3),
    "The auxiliary loss does not help smaller sets": (partial(gain, FULL), 1, 4),
    "The average over the paper's eight tasks is higher without the auxiliary loss": (
        *(partial(gain, NO_AUX), 4, -4),
    ),
    "The layers above the embeddings help": (by_layer, 2, -2),
    "Each further layer helps": (by_layer, 2, -2),
    "Long contiguous text matters: books of shuffled sentences help less": (
        *(partial(gain, SENTENCES_SHUFFLED), -4, 4),
    ),
    "Zero-shot scores rise along pre-training": (by_layer, 1.5, -1.5),  # the curves' rise, too
}


@pytest.mark.parametrize("statement", CASES)
def test_a_claim_holds_where_it_was_planted_and_not_where_its_contrary_was(statement):
    effect, *planted = CASES[statement]
    holds, fails = (
        {one.verdict for one in of(statement, made(effect=effect(x), rise=x))} for x in planted
    )
    assert holds == {"holds"} and fails == {"does not hold"}
    nothing = of(statement, made())
    assert {one.verdict for one in nothing} == {"not run"} and all(one.needs for one in nothing)


def test_which_tasks_a_line_is_about():
    run = made(effect=by_layer(2), rise=1.5)
    both = 2  # with and without the auxiliary loss
    layers = [one.tasks for one in of("Each further layer helps", run)]
    assert layers == ["mean of 9", "MNLI", "RACE"] * both
    rises = {one.tasks: one.margin for one in of("Zero-shot scores rise along pre-training", run)}
    by_task = dict.fromkeys(["CoLA", "SST-2", "RACE", "DPRD"], GRID.margins.task)
    assert rises == {"mean of 4": GRID.margins.mean, **by_task}


@pytest.mark.parametrize(("layers", "expected"), [([0, 4], "does not hold"), ([0], "not run")])
def test_a_layer_is_judged_without_the_auxiliary_loss_where_three_numbers_of_them_are_run(
    layers, expected
):
    def contrary(variant: PaperModel, task: str) -> float:
        return by_layer(2 if variant.aux == "on" else -2)(variant, task)

    grid = make_grid(*EIGHT, "race", without_aux=layers, **OF_GRID)
    found = of("Each further layer helps", made(grid=grid, effect=contrary))
    assert [one.verdict for one in found] == ["holds"] * 3 + [expected] * 3
    assert found[0].found.value == found[0].found.n_seeds == 3  # from 0 to 4, 8 and 12 layers


def test_one_layer_that_helps_is_not_each_layer():
    def leap(variant: PaperModel, task: str) -> float:
        return 80 if variant.n_transfer in (8, 12, "all") else 50

    whole = of("Each further layer helps", made(effect=leap))[0]
    assert (whole.verdict, whole.found.interval) == ("undecided", (1, 3))
    assert whole.needs.startswith("4 layers − 0 layers: ")


def test_a_mean_over_one_task_is_that_tasks_estimate():
    run, claim = made(effect=by_layer(2)), Claim("", "", PRETRAINING, mean, ["rte"])
    (average,), (own,) = mean(run, claim), each(run, claim)
    assert average.found.interval == own.found.interval and average.found.p == own.found.p
    assert (average.margin, average.verdict) == (own.margin, own.verdict)


def test_a_task_is_won_for_sure_by_holm_and_lost_if_it_is_below_for_sure():
    class Lead(Made):
        def heads(self, variant: PaperModel, contrast: Contrast) -> dict[str, Score | None]:
            return {name: of.minus(50.0) for name, of in super().heads(variant, contrast).items()}

    scores = {"rte": 30.0, "sst2": 30.0, "mrpc": 30.0, "stsb": 50.05}  # all others: 70
    run = Lead(made().results, make_grid(**OF_GRID), Samples(), lambda _, n: scores.get(n, 70.0))
    (found,) = of("Better than the best published system on 9 of 12 tasks", run)
    assert (found.found.value, found.found.interval, found.verdict) == (9, (8, 9), "undecided")


def test_smaller_sets_are_those_of_fewer_rows_and_need_larger_ones_beside_them():
    statement = "The auxiliary loss does not help smaller sets"

    def small_gain(variant: PaperModel, task: str) -> float:
        return 50 + 9 * (variant == FULL and task in ("rte", "mrpc", "stsb", "cola"))

    rows = TRAIN_ROWS | {"race": 10}  # which is none of the eight
    run = made(effect=small_gain, rows=rows)
    (found,) = of(statement, run)
    assert found.found.value == pytest.approx(9, abs=0.5)
    assert (found.margin, found.border) == (0.0, run.grid.margins.mean)  # at most so much
    alike = dict.fromkeys(EIGHT, 1000)
    for name in (statement, "The auxiliary loss helps larger sets more than smaller ones"):
        (found,) = of(name, made(effect=small_gain, rows=alike))
        lacking = "tasks whose training sets differ more in size"
        assert (found.verdict, found.needs) == ("not run", lacking)


VARIANTS = {  # statements, scores of variants, and the contrasts on STS-B or the mean
    "Pre-training helps on every task": ({NO_PRETRAINING: 50, NEITHER: 40}, [10, 20]),
    "Pre-training helps on average": ({NO_PRETRAINING: 50, FITTED: 30}, [10, 30]),
    "More than word-level information is transferred": ({VECTORS: 40}, [20]),
    "The LSTM scores less on average": ({LSTM: 40, NO_AUX: 65, LSTM_NO_AUX: 60}, [20, 5]),
    "The LSTM wins on MRPC alone": ({LSTM: 40, NO_AUX: 65, LSTM_NO_AUX: 60}, [20, 5]),
}


@pytest.mark.parametrize("statement", VARIANTS)
def test_claims_are_judged_beside_each_variant_that_may_be_meant(statement):
    scores, expected = VARIANTS[statement]
    run = made(effect=lambda variant, task: {FULL: 60.0, **scores}.get(variant))
    found = [one for one in of(statement, run) if one.tasks in ("STS-B", "mean of 9")]
    assert [one.found.value for one in found] == pytest.approx(expected, abs=0.6)


def test_a_small_network_and_word_vectors_are_variants_of_the_world():
    grid = Plan(parse(full())).grid()
    for model, corpus in ((FITTED, "books"), (VECTORS, "word-vectors")):
        variant = grid.variant(model.cell(grid, "rte"))
        assert (variant.n_layer, variant.aux, variant.corpus) == (2, "off", corpus)
        assert not variant.models() and not variant.plain and not variant.is_control


@pytest.mark.parametrize(
    "keys", [{"finetune.embeddings": "learned"}, {"finetune.lm_coef": 0.5}, {"n_transfer": "none"}]
)
def test_a_variant_that_has_the_title_of_word_vectors_alone_is_not_taken_for_them(keys):
    config = full()
    config["experiment"]["studies"]["ablation"]["lines"][VECTORS.title] |= keys
    grid = Plan(parse(config)).grid()
    assert VECTORS.cell(grid, "rte") is None and FITTED.cell(grid, "rte")


def along_fine_tuning(
    results: Path, with_aux: list[float], without: list[float], epochs: int
) -> Evidence:
    """A run whose `select` scores after the epochs are these, and more by seed."""
    grid, cells = make_grid("rte", "qqp", "cola", **OF_GRID), []
    for task, metric in (("rte", "accuracy"), ("qqp", "f1"), ("cola", "matthews")):
        for variant, scores in ((FULL, with_aux), (NO_AUX, without), (NO_PRETRAINING, without)):
            cells.append(cell := variant.cell(grid, task))
            record = make_cell(random.Random(0), grid, cell)
            record["settings"]["epochs"] = epochs
            for seed in record["seeds"]:
                more = 0.2 * seed["seed"] ** (1 + (variant == FULL))
                seed["select_by_epoch"] = [
                    {"epoch": i, "update": 9 * i - sooner, metric: score + more * i - 50 * sooner}
                    for i, score in enumerate(scores, start=1)
                    for sooner in (1 + (variant == FULL), 0)  # within an epoch, of no account
                ]
            write(cell.path(results), record)
    return Evidence(results, grid, Samples.of_cells(results, grid, cells))


@pytest.mark.parametrize(
    ("with_aux", "without", "epochs", "faster", "suffices"),
    [
        ([70, 80, 79], [50, 70, 70], 3, "holds", "holds"),
        ([40, 60, 75], [70, 80, 80], 3, "does not hold", "does not hold"),
        ([70, 80, 79], [50, 70, 70], 6, "holds", "not run"),  # the schedule ends elsewhere
        ([70, 80], [50, 70], 3, "holds", "not run"),
        ([], [], 3, "not run", "not run"),
    ],
)
def test_what_is_said_of_epochs_is_judged_by_the_scores_after_each(
    tmp_path, with_aux, without, epochs, faster, suffices
):
    run = along_fine_tuning(tmp_path, with_aux, without, epochs)
    (speed,) = of("The auxiliary loss speeds up convergence", run)
    (third,) = of("Three epochs suffice", run)
    assert (speed.verdict, third.verdict) == (faster, suffices)


@pytest.mark.parametrize(("rows", "verdict"), [(1000, "holds"), (100, "undecided")])
def test_select_scores_that_no_seed_changes_say_as_much_as_their_rows_do(tmp_path, rows, verdict):
    run = along_fine_tuning(tmp_path, [], [], 3)
    for cell in tmp_path.glob("cells/full/*.json"):
        record = json.loads(cell.read_text())
        for seed in record["seeds"]:
            points = [dict.fromkeys(("accuracy", "f1", "matthews"), 100.0) for _ in range(3)]
            seed["select_by_epoch"] = [
                {"epoch": i, "update": 9 * i, **point} for i, point in enumerate(points, start=1)
            ]
        write(cell, record)
    facts = SimpleNamespace(rows={"train": 4000, "select": rows})
    run.__dict__["examples"] = dict.fromkeys(("rte", "qqp", "cola"), facts)
    (third,) = of("Three epochs suffice", run)
    assert third.verdict == verdict
    assert third.needs.endswith("rows a task") or verdict == "holds"


def test_the_lstms_scores_vary_more_where_its_curves_go_up_and_down():
    class Wavy(Made):
        def zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
            wave = np.array([0.0, 0.5, 0.0, 0.5]) * (arch == LSTM.arch)
            return {seed: np.tile(wave * (1 + 0.01 * seed), (4, 1)) for seed in SEEDS}

    (found,) = of("The LSTM's zero-shot scores vary more", Wavy(made().results, GRID, Samples()))
    assert found.verdict == "holds" and found.found.value > 50
