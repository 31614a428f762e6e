"""Alarms of a cell's seeds together; those of a single run are in `gpt1.training.alarms`."""

import re

from workflow.analysis.stats.sample import Sample

APART = 20.0  # points below the best seed, beyond which another did not fit
DISAGREE, BELOW = "seeds_disagree", "below_bag_of_words"
OF_SEEDS = DISAGREE, BELOW  # which a run bears by the other seeds of its cell


def of_seeds(score: Sample) -> dict[int, list[str]]:
    """By seed the names of its alarms by a cell's headline score.

    `seeds_disagree`: it is more than `APART` points below the best seed, so it did not fit where
    that did. The distance, not the training score, says so: it is in the units of the table, is
    there for every score, and a fit that memorised its rows fails by it, too. Where no seed fits
    none bears it; the alarms of single runs say that. `below_bag_of_words`: the mean over seeds is
    below the bag of words of the same split.
    """
    mean = [BELOW] * bool(score.score.mean() < score.bag_of_words)
    failed = score.score < score.score.max() - APART
    pairs = zip(score.seeds, failed, strict=True)
    return {seed: mean + [DISAGREE] * bool(is_it) for seed, is_it in pairs}


def fits(alarms: str) -> str:
    """How many runs fit, ` (2 of 3)`, by the alarms `Sample.raised`; empty if all do."""
    failed = re.search(rf"{DISAGREE}:(\d+)/(\d+)", alarms)
    return f" ({int(failed[2]) - int(failed[1])} of {failed[2]})" if failed else ""


def is_marked(alarms: str) -> bool:
    """Whether a `!` marks a score of these `alarms`, joined by a semicolon.

    Not for `below_bag_of_words` alone: most scores of models that were not pre-trained are.
    """
    return bool({text.partition(":")[0] for text in alarms.split(";") if text} - {BELOW})
