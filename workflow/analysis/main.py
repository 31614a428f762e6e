"""`main.csv`: Tables 2 to 4, published systems and the paper's model beside this run's models.

    python -m workflow.analysis.main --results R --settings JSON --out R/main.csv

Ours is the fully transferred transformer, fine-tuned with the auxiliary LM objective as the paper's
is, and without it. The published figures are test figures; the column heads name the split of
*this run's* rows.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks.common.errors import run
from workflow.analysis import clean, collect, output, subsets, summary
from workflow.analysis.paper import OURS, paper_numbers

TITLES = {
    "Table 2": "Natural language inference (Table 2): accuracy",
    "Table 3": "Question answering and commonsense reasoning (Table 3): accuracy",
    "Table 4": "Similarity and classification (Table 4)",
    "beside Table 4": "The further metrics of those tasks, which the paper does not print",
}
# the paper's column: (task, which part of its splits)
COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "Table 2": {
        "MNLI-m": ("mnli", "_matched"),
        "MNLI-mm": ("mnli", "_mismatched"),
        "SNLI": ("snli", ""),
        "SciTail": ("scitail", ""),
        "QNLI": ("qnli", ""),
        "RTE": ("rte", ""),
    },
    "Table 3": {
        "StoryCloze": ("story_cloze", ""),
        "RACE-m": ("race", "_middle"),
        "RACE-h": ("race", "_high"),
        "RACE": ("race", ""),
    },
    "Table 4": {
        "CoLA_mcc": ("cola", ""),
        "SST2_acc": ("sst2", ""),
        "MRPC_f1": ("mrpc", ""),
        "STSB_pearson": ("stsb", ""),
        "QQP_f1": ("qqp", ""),
    },
}
MODELS = {
    "on": "Finetuned Transformer LM (this run)",
    "off": "Finetuned Transformer LM w/o aux LM (this run)",
}
PLACE = clean.PLACE


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (this run's model, column, split) and one per published figure."""
    full = collect.full(settings, "transformer")
    runs = collect.read_runs(results, collect.fully_transferred(settings))
    table = summary.summarise(runs, PLACE)
    table = table.merge(clean.scores(results, settings, runs), on=PLACE, how="left")
    places = _places(runs)
    notes = subsets.notes(results, settings["tasks"])
    ours = []
    for place in places:
        for aux in settings["aux"]:
            printed = paper_numbers(place["table"]).get(OURS, {}).get(place["column"])
            paper = printed if aux == "on" and place["carries_paper"] else None
            row = {"source": "this run", "variant": MODELS[aux], "aux": aux, "paper": paper}
            row |= {"note": notes.get(place["task"], "")}
            ours.append({**place, **row, "arch": "transformer", "n_transfer": full})
    ours = summary.complete(table, ours, PLACE).drop(columns="carries_paper")
    table = pd.concat([_published(places), ours], ignore_index=True)
    return table, _wide(table, places, notes, settings["clean"])


def _places(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Every (table, column, task, split, metric); the published figure stands by test."""
    places = []
    for table, columns in COLUMNS.items():
        for column, (name, part) in columns.items():
            splits = _splits(name, part, runs)
            printed = next((s for s in splits if s.startswith("test")), splits[0])
            for split in splits:
                place = {"table": table, "column": column, "task": name, "split": split}
                more = {"metric": tasks.task(name).metric, "carries_paper": split == printed}
                places.append({**place, **more})
    for name, _ in COLUMNS["Table 4"].values():
        for metric in tasks.task(name).metrics:
            if metric != tasks.task(name).metric:
                place = {"table": "beside Table 4", "column": f"{name}_{metric}", "task": name}
                split = summary.headline_splits(name, runs)[0]
                places.append({**place, "split": split, "metric": metric, "carries_paper": False})
    return places


def _splits(name: str, part: str, runs: pd.DataFrame) -> list[str]:
    splits = summary.reported(name, runs)
    if name != "mnli":
        return [split + part for split in splits]
    return [s for s in splits if s.endswith(part)] or [f"dev{part}"]


def _published(places: list[dict[str, Any]]) -> pd.DataFrame:
    named = {place["column"]: place for place in places}
    rows = []
    for table in COLUMNS:
        for method, numbers in paper_numbers(table).items():
            for column, number in numbers.items():
                place = named.get(column, {"task": "glue", "metric": "mean"})
                rows.append(
                    {
                        **{"table": table, "column": column, "variant": method, "paper": number},
                        **{"task": place["task"], "metric": place["metric"], "split": "test"},
                        "source": "paper" if method == OURS else "published",
                    }
                )
    return pd.DataFrame(rows)


def _wide(
    table: pd.DataFrame, places: list[dict[str, Any]], notes: dict[str, str], with_clean: bool
) -> str:
    parts = ["# Tables 2 to 4"]
    for name, title in TITLES.items():
        mine = table[table["table"] == name]
        parts += [f"## {title}", _markdown(mine, name, places, notes, with_clean)]
    parts += subsets.footnote(notes)
    parts.append(
        "The rows above this run's are the paper's: published systems and its own model, scored by "
        "the GLUE test server or on the public test sets. The split that a column head names is "
        "that of this run's rows, of the majority class and of the bag of words: dev is not test. "
        "(5x) is an ensemble of five. GLUE is the server's own average over hidden test labels. "
        + (f"{clean.NOTE} " if with_clean else "")
        + output.ALARM_NOTE
    )
    return "\n\n".join(parts)


def _markdown(
    table: pd.DataFrame,
    name: str,
    places: list[dict[str, Any]],
    notes: dict[str, str],
    with_clean: bool,
) -> str:
    columns = [place for place in places if place["table"] == name]
    ours = table[table["source"] == "this run"]
    cells = {(row["variant"], row["column"], row["split"]): row for _, row in ours.iterrows()}
    glue = name == "Table 4"
    rows = []
    for method, numbers in paper_numbers(name).items():
        values = [numbers.get(p["column"]) if p["carries_paper"] else None for p in columns]
        label = f"*{method.replace('(ours)', '(the paper)')}*"
        rows.append([label, output.NONE, *map(output.value, values)])
        rows[-1] += [output.value(numbers.get("GLUE"))] if glue else []
    for variant in ours["variant"].unique():
        mine = [cells[variant, place["column"], place["split"]] for place in columns]
        count = output.seeds(pd.Series([row["n_seeds"] for row in mine]))
        rows.append([variant, count, *map(output.score, mine), *([output.NONE] if glue else [])])
        if with_clean:
            shown = map(output.clean, mine)
            rows.append([f"{variant}, clean rows", count, *shown, *([output.NONE] * glue)])
    for column, label in (("majority", "majority class"), ("bag_of_words", "bag of words")):
        values = []
        for place in columns:
            here = (ours["column"] == place["column"]) & (ours["split"] == place["split"])
            known = ours.loc[here, column].dropna()
            values.append(output.value(known.iloc[0] if len(known) else None, output.MISSING))
        rows.append([label, output.NONE, *values, *([output.NONE] if glue else [])])
    heads = [_head(place, notes) for place in columns]
    return output.markdown(["model", "seeds", *heads, *(["GLUE"] * glue)], rows)


def _head(place: dict[str, Any], notes: dict[str, str]) -> str:
    base = place["split"].split("_")[0]
    title = subsets.mark(notes, place["task"])
    if place["table"] in ("Table 2", "Table 3"):
        dagger = subsets.DAGGER if title.endswith(subsets.DAGGER) else ""
        return f"{place['column']}{dagger} ({base})"
    return f"{title} ({output.METRICS[place['metric']]}, {base})"


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
