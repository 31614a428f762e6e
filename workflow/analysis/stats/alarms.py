"""Alarms that compare a cell's seeds; those of a single run are in `gpt1.training.alarms`."""

import re

import numpy as np

from workflow.analysis.stats.sample import Sample

APART = 20.0  # a seed that scores so many points less than the best one did not fit
DISAGREE, BELOW = "seeds_disagree", "below_bag_of_words"
OF_SEEDS = DISAGREE, BELOW  # raised from all seeds of a cell, not from a run by itself


def of_seeds(score: Sample) -> dict[int, list[str]]:
    """By seed, the names of the alarms that a cell's headline score raises.

    `seeds_disagree`: the seed is more than `APART` points below the best one, so it did not fit
    where that did. The criterion is this distance rather than the training score because it is in
    the units of the table, exists for every score, and also catches a fit that memorised its rows.
    Where no seed fits, none has this alarm; those of single runs report that case.
    `below_bag_of_words`: the mean over seeds is below the bag of words of the same split.
    """
    mean = [BELOW] * bool(score.score.mean() < score.bag_of_words)
    pairs = zip(score.seeds, failed(score.score), strict=True)
    return {seed: mean + [DISAGREE] * bool(is_it) for seed, is_it in pairs}


def failed(scores: np.ndarray) -> np.ndarray:
    """Which of the fits [seeds] of a cell did not fit where the best one did."""
    return scores < scores.max() - APART


def fits(alarms: str) -> str:
    """How many runs fit, as ` (2 of 3)`, from the alarms in `Sample.raised`; empty if all do."""
    failed = re.search(rf"{DISAGREE}:(\d+)/(\d+)", alarms)
    return f" ({int(failed[2]) - int(failed[1])} of {failed[2]})" if failed else ""


def is_marked(alarms: str) -> bool:
    """Whether a score with these `alarms`, joined by semicolons, is marked with a `!`.

    `below_bag_of_words` alone does not count: it applies to most models without pre-training.
    """
    return bool({text.partition(":")[0] for text in alarms.split(";") if text} - {BELOW})
