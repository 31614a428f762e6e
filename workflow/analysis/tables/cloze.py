"""The table `cloze`: the skills of the language models along pre-training.

It has a row for every checkpoint that a run has; what was not scored is empty.
"""

from pathlib import Path

import pandas as pd
from scipy import stats

from gpt1.cell import Corpus, PretrainedModel
from gpt1.records import ClozeScores
from workflow.analysis import markdown
from workflow.analysis.table import Table
from workflow.grid import Grid

CLOZE = [
    *("skill", "arch", "corpus", "seed", "update", "tokens", "n", "chance", "accuracy"),
    *("ci_low", "ci_high", "accuracy_by_sum", "margin"),
]
CONTROLS: dict[Corpus, str] = {
    "shuffled": "the words of each sentence",
    "sentences-shuffled": "all sentences",
}
MODEL = ["arch", "corpus", "seed"]  # identify a language model


def cloze(results: Path, grid: Grid) -> Table:
    """Cloze items: for each skill, how often a language model prefers the right continuation.

    One row per (skill, model, update); there are no rows if nothing was scored, because the skills
    are then unknown. Intervals are Wilson's, over the items of a skill, for each language model by
    itself.
    """
    models, rows, points = grid.all_models(), [], []
    for model, corpus in models.items():
        for update in grid.updates:
            place = {"arch": model.arch, "corpus": corpus, "seed": model.seed, "update": update}
            points.append(place)
            if (found := ClozeScores.find(model.cloze(results, update), **place)) is None:
                continue
            for skill, score in found.skills.items():
                low, high = interval(score.correct, score.n)
                row = {"skill": skill, "tokens": found.tokens, "ci_low": low, "ci_high": high}
                rows.append(place | row | score.model_dump())
    scored = pd.DataFrame(rows, columns=CLOZE)
    table = scored[["skill"]].drop_duplicates().merge(pd.DataFrame(points), how="cross")
    table = table.merge(scored, on=["skill", *MODEL, "update"], how="left")[CLOZE]
    return Table(table, _skills(table, models))


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


def _skills(table: pd.DataFrame, models: dict[PretrainedModel, Corpus]) -> list[str | pd.DataFrame]:
    """The Markdown of `cloze`: skills down, language models across."""
    title = "# Cloze items: skills of the language models"
    if table.empty:
        return [title, f"Every checkpoint is {markdown.MISSING}: not scored."]

    def at_last(form: str, *columns: str) -> pd.DataFrame:
        """The numbers of some columns as text, `missing` where the checkpoint was not scored."""
        numbers = ends[[*columns]].itertuples(index=False)
        texts = [markdown.MISSING if pd.isna(row[0]) else form.format(*row) for row in numbers]
        return markdown.pivot(ends.assign(text=texts), "skill", "head", "text")

    def tokens_until(points: pd.DataFrame) -> str:
        if points["accuracy"].isna().any():
            return markdown.MISSING
        row = above_chance_from(points)
        if row is None:
            return markdown.NONE
        return "unknown" if pd.isna(row["tokens"]) else f"{row['tokens']:,.0f}"

    names, heads = [(model.arch, corpus) for model, corpus in models.items()], {}
    for model, corpus in models.items():
        read = f", {markdown.CORPORA[corpus]}" if corpus != "books" else ""
        seed = f", seed {model.seed}" if names.count((model.arch, corpus)) > 1 else ""
        heads[model.arch, corpus, model.seed] = model.arch + read + seed
    table = table.assign(head=[heads[key] for key in table[MODEL].itertuples(index=False)])
    update = table["update"].max()
    ends = table[table["update"] == update]
    facts = table.groupby("skill", sort=False)[["n", "chance"]].first()
    items = {"items": markdown.column(facts["n"], ".0f")}
    items |= {"chance": markdown.column(facts["chance"], ".1f")}
    last = at_last("{:.1f} ({:.1f}–{:.1f})", "accuracy", "ci_low", "ci_high")
    shows = table.groupby(["skill", "head"], sort=False)[CLOZE].apply(tokens_until)
    since = markdown.pivot(shows.rename("text").reset_index(), "skill", "head", "text")
    return [
        title,
        f"## Accuracy at the last checkpoint (update {update})",
        pd.DataFrame(items).join(last),
        "In brackets Wilson's 95 % interval over the items, for each language model by itself. "
        "Chance is the accuracy of a random guess. "
        + " ".join(
            f"{markdown.CORPORA[corpus].capitalize()}: the same books with {what} shuffled."
            for corpus, what in CONTROLS.items()
            if corpus in models.values()
        ),
        "## By the sum of log-probabilities, and the margin",
        at_last("{:.1f} ({:+.2f})", "accuracy_by_sum", "margin"),
        "The accuracy where the choice with the highest sum over its tokens counts, as in BLiMP, "
        "not that with the highest mean. In brackets how much higher the mean of the right choice "
        "is than that of the best wrong one, in nats per token.",
        "## Tokens of pre-training until the skill shows",
        since,
        "The tokens seen at the first checkpoint from which on the accuracy was above chance, "
        f"its interval included; `{markdown.NONE}`: not above chance at the last checkpoint.",
    ]
