"""Turn a user's own task, as the config describes it, into a `Task` like the suite's."""

from tasks.common.errors import InputError
from tasks.hub import HubSource
from tasks.own import OwnTask
from tasks.prompt import Prompt, parts
from tasks.readers import Table
from tasks.task import Task

FAMILIES = {"pair": "entailment"}  # the paper's name for a kind, where it differs
FURTHER = {"pearson": "spearman", **dict.fromkeys(("f1", "macro_f1", "matthews"), "accuracy")}
CARVED = {"train": 0.8, "test": 0.2}  # shares of a single file


def own_task(name: str, of: OwnTask) -> Task:
    """The task that the config describes, without any published numbers.

    Raises InputError for an invalid prompt.
    """
    files, columns, labels = of.by_split, of.columns, of.names
    choices = [columns.choices] if isinstance(columns.choices, str) else columns.choices
    layout = Table(
        *("", columns.text, columns.label, of.second),
        choices=tuple(choices),
        n_choices=len(labels) if choices else 0,
        named=files,
    )
    splits = dict.fromkeys([*files, *(CARVED if len(files) == 1 else ())], 0)
    coding = of.labels if isinstance(of.labels, dict) else {}
    try:
        prompt = _prompt(of)
    except ValueError as error:
        raise InputError(f"prompt: {error}") from None
    return Task(
        name=name,
        title=of.title or name,
        family=FAMILIES.get(of.kind or "", of.kind or ""),
        labels=labels,
        coding={word: labels.index(label) for word, label in coding.items()},
        folder="",
        layouts=(layout,),
        select="dev" if {"dev", "test"} <= files.keys() else None,
        report=("test",) if "test" in splits else ("dev",),
        rows=splits,
        label_shares=(1 / len(labels),) * len(labels),
        metric=of.metric,
        metrics=(of.metric, FURTHER[of.metric]) if of.metric in FURTHER else (of.metric,),
        prompt=prompt,
        obtain="give its path in files",
        hub=HubSource(
            name=name,
            licence="that of the repository" if of.repo else "yours to state",
            repo=of.repo or "",
            config=", ".join(files.values()),
            files={split: (pattern,) for split, pattern in files.items()},
            by_hand="give repo",
        ),
        hub_rows=lambda _, paths: layout.rows(paths),
    )


def _prompt(of: OwnTask) -> Prompt | None:
    """The task's prompt, with the columns of its files replaced by the fields of a `Row`."""
    if of.prompt is None:
        return None
    names = {of.columns.text: "first", **({of.second: "second"} if of.second else {})}

    def over_rows(template: str) -> str:
        found = list(parts(template))
        if unknown := [column for _, column in found if column not in (None, *names)]:
            known = ", ".join(f"{{{name}}}" for name in names)
            raise ValueError(f"no column {unknown[0]!r:.60} is read; give {known}")
        return "".join(w + (f"{{{names[column]}}}" if column else "") for w, column in found)

    choices = of.choices or (() if of.kind == "multiple_choice" else of.names)
    for choice in choices:
        if not any(words.strip() for words, _ in parts(choice)):
            raise ValueError(f"the choice {choice!r:.60} has no words beside columns; add some")
    if choices and not any(column for text in (of.prompt, *choices) for _, column in parts(text)):
        example = f"{{{of.columns.text}}}"
        raise ValueError(f"{of.prompt!r:.60} names no column; give one in braces, as {example}")
    return Prompt(over_rows(of.prompt), choices=tuple(map(over_rows, choices)))
