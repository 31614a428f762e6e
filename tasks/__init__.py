"""The twelve tasks of the paper's tables, in its order, and DPRD for the zero-shot figure."""

from tasks import classification, dprd, entailment, race, similarity, story_cloze
from tasks.common.errors import InputError
from tasks.types import Example, Task

TASKS: tuple[Task, ...] = (
    entailment.snli,
    entailment.mnli,
    entailment.qnli,
    entailment.rte,
    entailment.scitail,
    race.race,
    story_cloze.story_cloze,
    similarity.mrpc,
    similarity.qqp,
    similarity.stsb,
    classification.sst2,
    classification.cola,
)

__all__ = ["TASKS", "Example", "Task", "task"]


def task(name: str) -> Task:
    """The task of that name: one of `TASKS`, or `dprd`. Raises InputError for any other."""
    known = {each.name: each for each in (*TASKS, dprd.dprd)}
    if name not in known:
        raise InputError(f"no task {name!r}; the tasks are {' '.join(known)}")
    return known[name]
