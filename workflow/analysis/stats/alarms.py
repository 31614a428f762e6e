"""Alarms of a cell's seeds together; those of a single run are in `gpt1.training.alarms`."""

from workflow.analysis.stats.sample import Sample

APART = 20.0  # points between the best and the worst seed, beyond which they disagree
DISAGREE, BELOW = "seeds_disagree", "below_bag_of_words"
OF_SEEDS = DISAGREE, BELOW  # every run of the cell bears them, none of which they are the fault


def of_seeds(score: Sample | None) -> list[str]:
    """Names of the alarms of a cell's headline score; empty if there are none.

    `seeds_disagree`: two seeds are more than `APART` points apart. `below_bag_of_words`: their mean
    is below the bag of words of the same split.
    """
    if score is None:
        return []
    signs = {
        DISAGREE: score.score.max() - score.score.min() > APART,
        BELOW: score.score.mean() < score.bag_of_words,
    }
    return [name for name, is_raised in signs.items() if is_raised]


def is_marked(alarms: str) -> bool:
    """Whether a `!` marks a score of these `alarms`, joined by a semicolon.

    Not for `below_bag_of_words` alone: most scores of models that were not pre-trained are.
    """
    return bool({text.partition(":")[0] for text in alarms.split(";") if text} - {BELOW})
