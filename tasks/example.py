"""One example of a task."""

from dataclasses import dataclass


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
