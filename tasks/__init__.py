"""The tasks: the twelve of the paper's tables, in its order, and DPRD for the zero-shot figure."""

from typing import TYPE_CHECKING, Any

from tasks import paper
from tasks.common.errors import InputError
from tasks.common.programs import show_door
from tasks.spec import Example
from tasks.task import Task

if TYPE_CHECKING:
    from tasks.settings import OwnTask

PAPER_TASKS: tuple[Task, ...] = (
    *(paper.snli, paper.mnli, paper.qnli, paper.rte, paper.scitail),
    *(paper.race, paper.story_cloze),
    *(paper.mrpc, paper.qqp, paper.stsb),
    *(paper.sst2, paper.cola),
)

# Every task that a config may name without describing it; add further ones here.
TASKS: tuple[Task, ...] = (*PAPER_TASKS,)

show_door("tasks")

__all__ = ["PAPER_TASKS", "TASKS", "Example", "Task", "task"]


def task(name: str, own: "OwnTask | dict[str, Any] | None" = None) -> Task:
    """The task of this name: the one that `own` describes, one of `TASKS`, or `dprd`.

    Raises InputError for an unknown name.
    """
    if own:  # pydantic is imported only for user-defined tasks
        from tasks.settings import OwnTask, own_task

        return own_task(name, OwnTask.model_validate(own))
    known = {task.name: task for task in (*TASKS, paper.dprd)}
    if name not in known:
        raise InputError(f"no task {name!r}; the tasks are {' '.join(known)}")
    return known[name]
