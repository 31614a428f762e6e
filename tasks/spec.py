"""The part of a task that training needs: its input family, number of classes and metrics.

It is stored with the encoded examples, so that training depends on no reader: editing a reader or
adding a task leaves every trained cell as it is.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TaskSpec:
    """A task without its files. `family`, `metric` and `metrics` are those of `tasks.task.Task`.

    `n_labels` is the number of classes (six for STS-B's soft labels); multiple choice ignores it.
    """

    name: str
    family: str
    n_labels: int
    metric: str
    metrics: tuple[str, ...]

    @property
    def soft_labels(self) -> bool:
        """Whether the label is a score between classes (STS-B: six classes, 0 to 5)."""
        return self.metric == "pearson"
