"""Probes: for each skill, how often a language model prefers the right continuation.

Intervals are Wilson's, over the items of a skill, for each language model by itself.
"""

from pathlib import Path

import pandas as pd
from scipy import stats

from gpt1.cell import PretrainedModel
from workflow.analysis import markdown
from workflow.analysis.records import ProbeScores
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("probes",)
COLUMNS = [
    *("skill", "arch", "corpus", "seed", "update", "tokens", "n", "chance", "accuracy"),
    *("ci_low", "ci_high"),
]
CONTROL = (
    "transformer-shuffled is the negative control: pre-trained on the same books with the words of "
    "each sentence shuffled."
)
MODEL = ["arch", "corpus", "seed"]
POINT = [*MODEL, "update"]


def build(results: Path, grid: Grid) -> Table:
    """One row per (skill, model, update); what was not scored is empty.

    There are no rows if nothing was scored, because the skills are then unknown.
    """
    models = [*grid.models(), *grid.models("shuffled")]
    points = [(model, update) for model in models for update in grid.updates]
    scores = [row for point in points for row in _read(results, *point)]
    skills = dict.fromkeys(row["skill"] for row in scores)
    rows = [
        (skill, model.arch, model.corpus, model.seed, update)
        for skill in skills
        for model, update in points
    ]
    keys = ["skill", *POINT]
    table = pd.DataFrame(rows, columns=keys).merge(
        pd.DataFrame(scores, columns=COLUMNS), on=keys, how="left"
    )
    return Table(table[COLUMNS], _wide(table, models))


def _read(results: Path, model: PretrainedModel, update: int) -> list[dict[str, object]]:
    """The scores of a checkpoint, a row a skill; nothing if it was not scored."""
    path = model.probes(results, update)
    if not path.exists():
        return []
    own = {key: getattr(model, key) for key in MODEL}
    found = ProbeScores.read(path, **own, update=update)
    rows = []
    for skill, score in found.skills.items():
        low, high = interval(score.correct, score.n)
        rows.append(
            {
                **own,
                **{"skill": skill, "update": update, "tokens": found.tokens},
                **{"n": score.n, "chance": score.chance, "accuracy": score.accuracy},
                **{"ci_low": low, "ci_high": high},
            }
        )
    return rows


def interval(correct: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval for an accuracy of `correct` of `n`, 0 to 100."""
    found = stats.binomtest(correct, n).proportion_ci(confidence_level=0.95, method="wilson")
    return 100 * found.low, 100 * found.high


def above_chance_from(points: pd.DataFrame) -> pd.Series | None:
    """Of one skill and model, the first checkpoint from which on every interval excludes chance.

    `points` are rows of the table; a single checkpoint that is above chance by luck, before others
    that are not, does not count. None if the last one is not above chance.
    """
    points = points.sort_values("update")
    above = (points["ci_low"] > points["chance"])[::-1].cummin()[::-1]
    return points[above].iloc[0] if above.any() else None


def _wide(table: pd.DataFrame, models: list[PretrainedModel]) -> list[str | pd.DataFrame]:
    title = "# Probes: skills of the language models"
    if table.empty:
        return [title, f"Every checkpoint is {markdown.MISSING}: not scored."]
    heads = _heads(models)
    facts = table.dropna(subset="n").groupby("skill", sort=False)[["n", "chance"]].first()
    last = pd.DataFrame({"items": facts["n"].map("{:.0f}".format)})
    last["chance"] = facts["chance"].map("{:.1f}".format)
    since = pd.DataFrame(index=last.index)
    for model, points in table.groupby(MODEL, sort=False):
        by_skill = points.groupby("skill", sort=False)
        last[heads[model]] = by_skill[points.columns].apply(_last)
        since[heads[model]] = by_skill[points.columns].apply(_since)
    update = table["update"].max()
    return [
        title,
        f"## Accuracy at the last checkpoint (update {update})",
        last,
        "In brackets Wilson's 95 % interval over the items, for each language model by itself. "
        "Chance is the accuracy of a random guess."
        + (f" {CONTROL}" if any(model.corpus == "shuffled" for model in models) else ""),
        "## Tokens of pre-training until the skill shows",
        since,
        "The tokens seen at the first checkpoint from which on the accuracy was above chance, "
        f"its interval included; `{markdown.NONE}`: not above chance at the last checkpoint.",
    ]


def _heads(models: list[PretrainedModel]) -> dict[tuple[str, str, int], str]:
    """The heading of each model's column; without the seed where it is the only one."""
    names = [model.name for model in models]
    return {
        (m.arch, m.corpus, m.seed): m.name
        if names.count(m.name) == 1
        else f"{m.name}, seed {m.seed}"
        for m in models
    }


def _last(points: pd.DataFrame) -> str:
    """A skill's accuracy at the last checkpoint, with its interval."""
    row = points.loc[points["update"].idxmax()]
    if pd.isna(row["accuracy"]):
        return markdown.MISSING
    return f"{row['accuracy']:.1f} ({row['ci_low']:.1f}–{row['ci_high']:.1f})"


def _since(points: pd.DataFrame) -> str:
    """The tokens until a skill showed."""
    if points["accuracy"].isna().any():
        return markdown.MISSING
    row = above_chance_from(points)
    if row is None:
        return markdown.NONE
    return "unknown" if pd.isna(row["tokens"]) else f"{row['tokens']:,.0f}"
