"""What programs know of a task without its files: its spec for training, and its examples.

The spec is stored with the encoded examples, so that training depends on no reader: editing a
reader or adding a task leaves every trained cell as it is.
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


@dataclass(frozen=True, slots=True)
class Example:
    """One example. Which text is which depends on the task's family:

    - classification: `first` is the text;
    - entailment: `first` is the premise (QNLI: the question), `second` the hypothesis;
    - similarity: `first` and `second` are the two sentences, in no order;
    - multiple_choice: `first` is the document or story, `second` the question (may be empty),
      `choices` the answers. DPRD: the text before and after the pronoun, and its two candidates.

    `label` is an index into the task's labels (or choices), for STS-B a float from 0 to 5, and -1
    where the label is not public.
    """

    guid: str
    first: str
    second: str
    choices: tuple[str, ...]
    label: int | float
    group: str = ""
