"""Cloze items: for each skill, how often a language model prefers the right continuation.

Intervals are Wilson's, over the items of a skill, for each language model by itself.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from gpt1.cell import Corpus, PretrainedModel
from gpt1.records import ClozeScores
from workflow.analysis import markdown
from workflow.analysis.table import Table
from workflow.grid import Grid

COLUMNS = [
    *("skill", "arch", "corpus", "seed", "update", "tokens", "n", "chance", "accuracy"),
    *("ci_low", "ci_high"),
]
CONTROLS: dict[Corpus, str] = {
    "shuffled": "the words of each sentence",
    "sentences-shuffled": "all sentences",
}
MODEL = ["arch", "corpus", "seed"]
POINT = [*MODEL, "update"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (skill, model, update); what was not scored is empty.

    There are no rows if nothing was scored, because the skills are then unknown.
    """
    models = grid.all_models()
    found = pd.DataFrame(
        [
            row
            for model, corpus in models.items()
            for update in grid.updates
            for row in _read(results, model, corpus, update)
        ],
        columns=COLUMNS,
    )
    every = pd.DataFrame(
        [{**_place(*of), "update": update} for of in models.items() for update in grid.updates]
    )
    table = found[["skill"]].drop_duplicates().merge(every, how="cross")
    table = table.merge(found, on=["skill", *POINT], how="left")[COLUMNS]
    return Table(table, _wide(table, models))


def _place(model: PretrainedModel, corpus: Corpus) -> dict[str, Any]:
    return {"arch": model.arch, "corpus": corpus, "seed": model.seed}


def _read(
    results: Path, model: PretrainedModel, corpus: Corpus, update: int
) -> Iterator[dict[str, Any]]:
    """The scores of a checkpoint, one row per skill; nothing if it was not scored."""
    place = _place(model, corpus) | {"update": update}
    found = ClozeScores.find(model.cloze(results, update), **place)
    if found is None:
        return
    for skill, score in found.skills.items():
        low, high = interval(score.correct, score.n)
        row = place | {"skill": skill, "tokens": found.tokens, "ci_low": low, "ci_high": high}
        yield row | score.model_dump()


def interval(correct: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval, 0 to 100, for an accuracy of `correct` out of `n`."""
    found = stats.binomtest(correct, n).proportion_ci(confidence_level=0.95, method="wilson")
    return 100 * found.low, 100 * found.high


def above_chance_from(points: pd.DataFrame) -> pd.Series | None:
    """The first checkpoint from which on every interval is above chance, for one skill and model.

    `points` are rows of the table. A checkpoint that is above chance by luck, before others that
    are not, does not count. None if the last one is not above chance.
    """
    points = points.sort_values("update")
    above = (points["ci_low"] > points["chance"])[::-1].cummin()[::-1]
    return points[above].iloc[0] if above.any() else None


def _wide(table: pd.DataFrame, models: dict[PretrainedModel, Corpus]) -> list[str | pd.DataFrame]:
    title = "# Cloze items: skills of the language models"
    if table.empty:
        return [title, f"Every checkpoint is {markdown.MISSING}: not scored."]
    facts = table.groupby("skill", sort=False)[["n", "chance"]].first()
    last = pd.DataFrame({"items": markdown.column(facts["n"], ".0f")})
    last["chance"] = markdown.column(facts["chance"], ".1f")
    since, update = pd.DataFrame(index=last.index), table["update"].max()
    names = [(model.arch, corpus) for model, corpus in models.items()]
    for model, corpus in models.items():
        read = f", {markdown.CORPORA[corpus]}" if corpus != "books" else ""
        seed = f", seed {model.seed}" if names.count((model.arch, corpus)) > 1 else ""
        head = model.arch + read + seed
        mine = table[(table[MODEL] == pd.Series(_place(model, corpus))).all(axis=1)]
        by_skill = mine.groupby("skill", sort=False)[COLUMNS]
        last[head], since[head] = by_skill.apply(_last), by_skill.apply(_since)
    return [
        title,
        f"## Accuracy at the last checkpoint (update {update})",
        last,
        "In brackets Wilson's 95 % interval over the items, for each language model by itself. "
        "Chance is the accuracy of a random guess. "
        + " ".join(
            f"{markdown.CORPORA[corpus].capitalize()}: the same books with {what} shuffled."
            for corpus, what in CONTROLS.items()
            if corpus in models.values()
        ),
        "## Tokens of pre-training until the skill shows",
        since,
        "The tokens seen at the first checkpoint from which on the accuracy was above chance, "
        f"its interval included; `{markdown.NONE}`: not above chance at the last checkpoint.",
    ]


def _last(points: pd.DataFrame) -> str:
    """A skill's accuracy at the last checkpoint, with its interval."""
    row = points.loc[points["update"].idxmax()]
    if pd.isna(row["accuracy"]):
        return markdown.MISSING
    return f"{row['accuracy']:.1f} ({row['ci_low']:.1f}–{row['ci_high']:.1f})"


def _since(points: pd.DataFrame) -> str:
    """The number of tokens until a skill showed, as text."""
    if points["accuracy"].isna().any():
        return markdown.MISSING
    row = above_chance_from(points)
    if row is None:
        return markdown.NONE
    return "unknown" if pd.isna(row["tokens"]) else f"{row['tokens']:,.0f}"
