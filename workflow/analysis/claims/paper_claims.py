"""The claims of the paper, as it states them: a contrast for each, its judge and its tasks.

What the paper says about its Table 5 is judged on the table's eight tasks.
"""

from dataclasses import replace

import tasks
from workflow.analysis.claims.evidence import Contrast, best_baselines, best_published, minus
from workflow.analysis.claims.judges import (
    Claim,
    along_lengths,
    along_sizes,
    each,
    mean,
    mean_of_smaller,
    mean_of_trained,
    rises,
    steps,
    varies,
    wins,
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
    PaperModel,
    published,
)


def a_third(control: PaperModel) -> Contrast:
    """A third of the gain from pre-training, minus that of a negative control."""
    name = f"a third of (full − w/o pre-training) − ({control.name} − w/o pre-training)"
    weights = {FULL: 1 / 3, NO_PRETRAINING: 2 / 3, control: -1.0}
    return Contrast(name, weights, has_margin=False)


PRETRAINING, AUX, OVER_LSTM = minus(FULL, NO_PRETRAINING), minus(FULL, NO_AUX), minus(FULL, LSTM)
# Table 5 does not say whether the model without pre-training has the auxiliary loss.
WITHOUT_BOTH = replace(minus(FULL, NEITHER), papers=PRETRAINING.papers)
# Neither model without pre-training fits its training rows well; a smaller network does.
OVER_FITTED = replace(minus(FULL, FITTED), papers=PRETRAINING.papers)
# The auxiliary loss slows a weak model down, so LSTM and layers are judged without it as well.
OVER_LSTM_NO_AUX = replace(minus(NO_AUX, LSTM_NO_AUX), papers=OVER_LSTM.papers)
LAYERS, LAYERS_NO_AUX = minus(FULL, EMBEDDINGS), minus(NO_AUX, EMBEDDINGS_NO_AUX)
STEPS, STEPS_NO_AUX = (
    Contrast(f"further layers{of}", {variant: 1.0})
    for of, variant in (("", FULL), (", w/o aux LM", NO_AUX))
)
OVER_BASELINES = Contrast("full − best baseline of each task", {FULL: 1.0}, given=best_baselines)
LEAD = Contrast(
    "full − best published",
    {FULL: 1.0},
    {name: round(ours - best, 1) for name, (ours, best) in published().items()},
    given=best_published,
    lacking="the published data sets",
)
FIRST_EPOCH = Contrast(
    "full − w/o aux LM, select score after epoch 1", AUX.weights, epochs={1: 1.0}
)
THIRD_EPOCH = Contrast(
    "full, select score after epoch 3 − after epoch 2",
    {FULL: 1.0},
    epochs={3: 1.0, 2: -1.0},
    of_epochs=3,
)
ZERO_SHOT = Contrast("rise of the relative score from first to last checkpoint, in %", {FULL: 1.0})
VARIATION = Contrast(
    "LSTM − transformer, ups and downs of the relative score in %",
    {LSTM: 1.0, FULL: -1.0},
    has_margin=False,
)

NLI = tuple(t.name for t in tasks.PAPER_TASKS if t.family == "entailment" and t.name in EIGHT)
HELPS, CONTROL = "Pre-training helps", "negative control"
ON_EIGHT = "on average over the paper's eight tasks"
CLAIMS = [
    Claim("5", f"{HELPS} {ON_EIGHT}", PRETRAINING, mean, EIGHT, 14.8),
    Claim("5", f"{HELPS} {ON_EIGHT}", WITHOUT_BOTH, mean, EIGHT, 14.8),
    Claim("5", f"{HELPS} {ON_EIGHT}", OVER_FITTED, mean, EIGHT, 14.8),
    Claim("5", f"{HELPS} on average", PRETRAINING, mean),
    Claim("5", f"{HELPS} on average", OVER_FITTED, mean),
    Claim("baselines", "More is learnt than the best shallow baseline sees", OVER_BASELINES, mean),
    Claim("1", "More than word-level information is transferred", minus(FULL, VECTORS), mean),
    Claim("5", f"{HELPS} on every task", PRETRAINING, each, EIGHT),
    Claim("5", f"{HELPS} on every task", WITHOUT_BOTH, each, EIGHT),
    *(
        claim
        for contrast in (OVER_LSTM, OVER_LSTM_NO_AUX)
        for claim in (
            Claim("5", f"The LSTM scores less {ON_EIGHT}", contrast, mean, EIGHT, 5.6),
            Claim("5", "The LSTM scores less on average", contrast, mean),
            Claim("5", "The LSTM wins on MRPC alone", contrast, each, EIGHT),
            Claim(
                "1",
                "The transformer's lead over the LSTM is larger where inputs are longer",
                contrast,
                along_lengths,
            ),
        )
    ),
    Claim("5", "The auxiliary loss helps natural language inference", AUX, mean, NLI),
    Claim("5", "The auxiliary loss helps each inference task and QQP", AUX, each, (*NLI, "qqp")),
    Claim(
        "5", "The auxiliary loss helps larger sets more than smaller ones", AUX, along_sizes, EIGHT
    ),
    Claim("5", "The auxiliary loss does not help smaller sets", AUX, mean_of_smaller, at_most=True),
    Claim(
        "5",
        "The average over the paper's eight tasks is higher without the auxiliary loss",
        AUX,
        mean,
        EIGHT,
        -0.3,
    ),
    Claim("3.2", "The auxiliary loss speeds up convergence", FIRST_EPOCH, mean),
    Claim("4.1", "Three epochs suffice", THIRD_EPOCH, mean_of_trained, at_most=True),
    Claim("5", "The embeddings alone help", minus(EMBEDDINGS, NO_PRETRAINING), mean),
    Claim("5", "The layers above the embeddings help MNLI", LAYERS, each, ("mnli",), 9.0),
    Claim("5", "The layers above the embeddings help MNLI", LAYERS_NO_AUX, each, ("mnli",), 9.0),
    Claim("5", "The layers above the embeddings help", LAYERS, mean),
    Claim("5", "The layers above the embeddings help", LAYERS_NO_AUX, mean),
    *(
        Claim("5", "Each further layer helps", contrast, steps, over)
        for contrast in (STEPS, STEPS_NO_AUX)
        for over in ((), ("mnli",), ("race",))  # Figure 2 shows these two tasks
    ),
    Claim("5", "Zero-shot scores rise along pre-training", ZERO_SHOT, rises),
    Claim(
        "5",
        "The LSTM's zero-shot scores vary more",
        VARIATION,
        varies,
    ),
    Claim(
        "4.1",
        "Long contiguous text matters: books of shuffled sentences help less",
        minus(FULL, SENTENCES_SHUFFLED),
        mean,
    ),
    Claim(CONTROL, "Books of shuffled words help less", minus(FULL, SHUFFLED), mean),
    Claim(
        CONTROL, "Books of shuffled words give at most a third of the gain", a_third(SHUFFLED), mean
    ),
    Claim(CONTROL, "Permuted embeddings give at most a third of the gain", a_third(PERMUTED), mean),
    Claim("4", "Better than the best published system on 9 of 12 tasks", LEAD, wins, paper=9.0),
    Claim("4", "Better than the best published system but for RTE, SST-2 and MRPC", LEAD, each),
]
