"""The claims of the paper, as it states them, each with the function that judges it.

Such a function takes the evidence of a run and returns findings, one per line of the claims table,
including those that were not run. What the paper says about its Table 5 is judged on the table's
eight tasks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import tasks
from workflow.analysis.claims.against_published import each_lead, wins
from workflow.analysis.claims.contrasts import each_task, on_average
from workflow.analysis.claims.curves import each_layer, zero_shot_rise, zero_shot_variation
from workflow.analysis.claims.evidence import (
    Contrast,
    EpochEvidence,
    Evidence,
    OverBaselines,
    minus,
)
from workflow.analysis.claims.finding import Finding
from workflow.analysis.claims.over_tasks import (
    no_gain_of_small_sets,
    rises_with_length,
    rises_with_size,
)
from workflow.analysis.paper import (
    EIGHT,
    EMBEDDINGS,
    EMBEDDINGS_NO_AUX,
    FITTED,
    FULL,
    LSTM,
    LSTM_NO_AUX,
    NEITHER,
    NO_AUX,
    NO_PRETRAINING,
    PERMUTED,
    SENTENCES_SHUFFLED,
    SHUFFLED,
    VECTORS,
    Variant,
)
from workflow.grid import Aux

HELPS = "Pre-training helps"
FIGURE_2 = ("mnli", "race")
AUXES: tuple[Aux, ...] = ("on", "off")


@dataclass(frozen=True)
class Claim:
    """A statement from a section of the paper, and the function that judges it."""

    statement: str
    findings: Callable[[Evidence], list[Finding]]
    section: str = "5"


def above_baselines(run: Evidence) -> list[Finding]:
    """The full model scores more than the best baseline of each task, on average."""
    over = OverBaselines(run.results, run.grid, run.samples)
    return on_average(over, Contrast("full − best baseline of each task", {FULL: 1.0}, {}))


def third_epoch(run: Evidence) -> list[Finding]:
    """The third epoch adds at most the margin to the scores by which the epoch is chosen.

    Only tasks that are trained for three epochs count.
    """
    along = EpochEvidence(run.results, run.grid, run.samples, {3: 1.0, 2: -1.0}, epochs=3)
    names = [name for name, sample in along.heads(FULL).items() if sample is not None]
    contrast = Contrast("full, select score after epoch 3 − after epoch 2", {FULL: 1.0}, {})
    return on_average(along, contrast, names, at_most=True)


def at_most_a_third(run: Evidence, control: Variant) -> list[Finding]:
    """A negative control has at most a third of the gain from pre-training."""
    name = f"a third of (full − w/o pre-training) − ({control.name} − w/o pre-training)"
    weights = {FULL: 1 / 3, NO_PRETRAINING: 2 / 3, control: -1.0}
    return on_average(run, Contrast(name, weights, has_margin=False))


def first_epoch(run: Evidence) -> list[Finding]:
    """With the auxiliary loss, the score after the first epoch is higher."""
    along = EpochEvidence(run.results, run.grid, run.samples, {1: 1.0})
    contrast = Contrast("full − w/o aux LM, select score after epoch 1", AUX.weights, {})
    return on_average(along, contrast)


NLI = tuple(t.name for t in tasks.PAPER_TASKS if t.family == "entailment" and t.name in EIGHT)
PRETRAINING, AUX, LEAD = minus(FULL, NO_PRETRAINING), minus(FULL, NO_AUX), minus(FULL, LSTM)
# Table 5 does not say whether the model without pre-training has the auxiliary loss.
WITHOUT_BOTH = replace(minus(FULL, NEITHER), table_5=PRETRAINING.weights)
# Neither model without pre-training fits its training rows well; a smaller network does.
OVER_FITTED = replace(minus(FULL, FITTED), table_5=PRETRAINING.weights)
# The auxiliary loss slows a weak model down, so LSTM and layers are judged without it as well.
LEADS = LEAD, replace(minus(NO_AUX, LSTM_NO_AUX), table_5=LEAD.weights)
LAYERS, LAYERS_NO_AUX = minus(FULL, EMBEDDINGS), minus(NO_AUX, EMBEDDINGS_NO_AUX)
CONTROL, BASELINES = "negative control", "baselines"
CLAIMS = [
    *(
        Claim(
            f"{HELPS} on average over the paper's eight tasks",
            partial(on_average, contrast=contrast, of=EIGHT, paper=14.8),
        )
        for contrast in (PRETRAINING, WITHOUT_BOTH, OVER_FITTED)
    ),
    *(
        Claim(f"{HELPS} on average", partial(on_average, contrast=contrast))
        for contrast in (PRETRAINING, OVER_FITTED)
    ),
    Claim("More is learnt than the best shallow baseline sees", above_baselines, BASELINES),
    Claim(
        "More than word-level information is transferred",
        partial(on_average, contrast=minus(FULL, VECTORS)),
        "1",
    ),
    *(
        Claim(f"{HELPS} on every task", partial(each_task, contrast=contrast, of=EIGHT))
        for contrast in (PRETRAINING, WITHOUT_BOTH)
    ),
    *(
        claim
        for contrast in LEADS
        for claim in (
            Claim(
                "The LSTM scores less on average over the paper's eight tasks",
                partial(on_average, contrast=contrast, of=EIGHT, paper=5.6),
            ),
            Claim("The LSTM scores less on average", partial(on_average, contrast=contrast)),
            Claim("The LSTM wins on MRPC alone", partial(each_task, contrast=contrast, of=EIGHT)),
            Claim(
                "The transformer's lead over the LSTM is larger where inputs are longer",
                partial(rises_with_length, contrast=contrast),
                "1",
            ),
        )
    ),
    Claim(
        "The auxiliary loss helps natural language inference",
        partial(on_average, contrast=AUX, of=NLI),
    ),
    Claim(
        "The auxiliary loss helps each inference task and QQP",
        partial(each_task, contrast=AUX, of=(*NLI, "qqp")),
    ),
    Claim(
        "The auxiliary loss helps larger sets more than smaller ones",
        partial(rises_with_size, contrast=AUX),
    ),
    Claim(
        "The auxiliary loss does not help smaller sets",
        partial(no_gain_of_small_sets, contrast=AUX),
    ),
    Claim(
        "The average over the paper's eight tasks is higher without the auxiliary loss",
        partial(on_average, contrast=AUX, of=EIGHT, paper=-0.3),
    ),
    Claim("The auxiliary loss speeds up convergence", first_epoch, "3.2"),
    Claim("Three epochs suffice", third_epoch, "4.1"),
    Claim(
        "The embeddings alone help", partial(on_average, contrast=minus(EMBEDDINGS, NO_PRETRAINING))
    ),
    *(
        Claim(
            "The layers above the embeddings help MNLI",
            partial(each_task, contrast=contrast, of=("mnli",), paper=9.0),
        )
        for contrast in (LAYERS, LAYERS_NO_AUX)
    ),
    *(
        Claim("The layers above the embeddings help", partial(on_average, contrast=contrast))
        for contrast in (LAYERS, LAYERS_NO_AUX)
    ),
    *(
        Claim("Each further layer helps", partial(each_layer, of=of, aux=aux))
        for aux in AUXES
        for of in (None, *FIGURE_2)
    ),
    Claim("Zero-shot scores rise along pre-training", zero_shot_rise),
    Claim("The LSTM's zero-shot scores vary more", zero_shot_variation),
    Claim(
        "Long contiguous text matters: books of shuffled sentences help less",
        partial(on_average, contrast=minus(FULL, SENTENCES_SHUFFLED)),
        "4.1",
    ),
    Claim(
        "Books of shuffled words help less",
        partial(on_average, contrast=minus(FULL, SHUFFLED)),
        CONTROL,
    ),
    Claim(
        "Books of shuffled words give at most a third of the gain",
        partial(at_most_a_third, control=SHUFFLED),
        CONTROL,
    ),
    Claim(
        "Permuted embeddings give at most a third of the gain",
        partial(at_most_a_third, control=PERMUTED),
        CONTROL,
    ),
    Claim("Better than the best published system on 9 of 12 tasks", partial(wins, paper=9.0), "4"),
    Claim("Better than the best published system but for RTE, SST-2 and MRPC", each_lead, "4"),
]
