"""`ablation.csv`: Table 5, the paper's four variants on its eight tasks with the average (paper 5).

    python -m workflow.analysis.ablation --results R --settings JSON --out R/ablation.csv

`w/o pre-training` is the same recipe with nothing transferred; `w/o aux LM` has `lm_coef` 0. After
the paper's eight tasks come the others that were run, and the average over all of the grid.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks.common.errors import run
from workflow.analysis import collect, output, subsets, summary
from workflow.analysis.paper import paper_numbers

# name, arch, aux, everything transferred?
PAPER_VARIANTS = [
    ("Transformer w/ aux LM (full)", "transformer", "on", True),
    ("Transformer w/o pre-training", "transformer", "on", False),
    ("Transformer w/o aux LM", "transformer", "off", True),
    ("LSTM w/ aux LM", "lstm", "on", True),
]
FURTHER_VARIANTS = [
    ("Transformer w/o pre-training, w/o aux LM", "transformer", "off", False),
    ("LSTM w/o pre-training", "lstm", "on", False),
    ("LSTM w/o aux LM", "lstm", "off", True),
    ("LSTM w/o pre-training, w/o aux LM", "lstm", "off", False),
]
PAPER_COLUMNS = {  # task: the paper's column; `avg` is the mean of the eight
    **{"avg": "Avg", "cola": "CoLA_mcc", "sst2": "SST2_acc", "mrpc": "MRPC_f1"},
    **{"stsb": "STSB_pearson", "qqp": "QQP_f1", "mnli": "MNLI_acc", "qnli": "QNLI_acc"},
    **{"rte": "RTE_acc"},
}
EIGHT = [name for name in PAPER_COLUMNS if name != "avg"]
VARIANT = ["arch", "aux", "n_transfer", "task"]


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (variant, task) and per (variant, average)."""
    runs = collect.read_runs(results, settings, ends=True)
    names = [*EIGHT, *(name for name in settings["tasks"] if name not in EIGHT)]
    heads = summary.headline(runs, names)
    averages = {"avg": EIGHT, "avg_all": settings["tasks"]}
    means = [summary.average(heads, members, label) for label, members in averages.items()]
    table = summary.summarise(pd.concat([heads, *means]), VARIANT)
    scored_on = {name: _scored_on(name, runs) for name in names}
    for label, members in averages.items():
        splits = [scored_on[name]["split"] for name in members]
        scored_on[label] = {"metric": "mean", "split": summary.bases(splits)}
    notes = subsets.notes(results, settings["tasks"])
    told = {name: notes.get(name, "") for name in names}
    told |= {label: subsets.joined(notes, members) for label, members in averages.items()}
    wanted = []
    for name, arch, aux, transferred in variants(settings):
        n_transfer = collect.full(settings, arch) if transferred else "none"
        for task in ["avg", *names, "avg_all"]:
            paper = paper_numbers("Table 5").get(name, {}).get(PAPER_COLUMNS.get(task))
            place = dict(zip(VARIANT, (arch, aux, n_transfer, task), strict=True))
            place |= {"variant": name, **scored_on[task], "paper": paper, "note": told[task]}
            wanted.append(place)
    table = summary.complete(table, wanted, VARIANT)
    return table, _wide(table, settings, names, notes)


def variants(settings: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """The paper's four, then the further ones that the grid holds."""
    return PAPER_VARIANTS + [
        variant
        for variant in FURTHER_VARIANTS
        if variant[1] in settings["arch"] and variant[2] in settings["aux"]
    ]


def _scored_on(task: str, runs: pd.DataFrame) -> dict[str, str]:
    splits = summary.headline_splits(task, runs)
    return {"metric": tasks.task(task).metric, "split": "+".join(splits)}


def _wide(
    table: pd.DataFrame, settings: dict[str, Any], names: list[str], notes: dict[str, str]
) -> str:
    others = [name for name in names if name not in EIGHT]
    n_tasks = len(settings["tasks"])
    parts = [
        "# Ablations (Table 5)",
        _markdown(table, ["avg", *EIGHT], "Avg (8)", notes),
        *subsets.footnote(notes),
        "Avg is the unweighted mean of the eight columns. The paper's rows are scores of the GLUE "
        "test server; ours are on the split that the column names. " + output.ALARM_NOTE,
        f"## Further tasks, and the average over all {n_tasks} tasks of this config",
        _markdown(table, ["avg_all", *others], f"Avg ({n_tasks})", notes),
    ]
    return "\n\n".join(parts)


def _markdown(table: pd.DataFrame, columns: list[str], average: str, notes: dict[str, str]) -> str:
    cells = {(row["variant"], row["task"]): row for _, row in table.iterrows()}
    head = ["variant", "seeds"]
    for task in columns:
        metric, split = table.loc[table["task"] == task, ["metric", "split"]].iloc[0]
        if task.startswith("avg"):
            head.append(average)
        else:
            base = summary.bases([split])
            head.append(f"{subsets.mark(notes, task)} ({output.METRICS[metric]}, {base})")
    rows = []
    for variant in table["variant"].unique():
        mine = [cells[variant, task] for task in columns]
        counts = pd.Series([row["n_seeds"] for row in mine])
        rows.append([variant, output.seeds(counts), *map(output.score, mine)])
        if any(pd.notna(row["paper"]) for row in mine):
            printed = [output.value(row["paper"]) for row in mine]
            rows.append([f"*paper: {variant}*", output.NONE, *printed])
    for column, name in (("majority", "majority class"), ("bag_of_words", "bag of words")):
        known = [table.loc[table["task"] == task, column].dropna() for task in columns]
        values = [output.value(v.iloc[0] if len(v) else None, output.MISSING) for v in known]
        rows.append([name, output.NONE, *values])
    return output.markdown(head, rows)


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
