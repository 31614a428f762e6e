"""How much of the gain from pre-training each line of a study loses, beside the prediction.

The gain is the score of the first reference, which is pre-trained, minus that of the second, which
is not. A line is predicted to lose half of it or more on some tasks. The table's `beyond` is the
contrast (full + none) / 2 - line, paired by row and by seed, in points: above 0, more than half is
lost.
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from gpt1.records import ClozeScores
from workflow.analysis import markdown
from workflow.analysis.markdown import MISSING
from workflow.analysis.stats.alarms import fits
from workflow.analysis.stats.estimate import ratios
from workflow.grid import Grid
from workflow.study_plan import StudyPlan

BELOW = "below_constant"
MARK = "‡"
LEAST = 5.0  # points; with a smaller gain there is nothing to lose
LEGEND = (
    "Share of the gain by pre-training that is lost, in percent (`lost` in the CSV); in bold where "
    "half or more was predicted to be. `?`: the 95 % interval of the loss beyond half of the gain "
    "(`beyond`) includes 0. In brackets the share by seed, where seeds are 20 points apart: the "
    "line learns by chance, and its seeds are what there is to know. "
    f"A dash: the gain is below {LEAST:g} points. `{MARK}` (`{BELOW}`): "
    "without pre-training the score is below the constant answer's, so a part of the gain is what "
    "this answer has too."
)


def add(frame: pd.DataFrame, study: StudyPlan) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The frame with `predicted` ("lost" or "kept"), `lost` and BELOW for each line, and a matrix.

    `lost` is a share, `lost_by_seed` that of each seed. They are NaN and empty where the gain is
    below LEAST.
    """
    none = frame[frame["line"] == study.references[1]].set_index("task")
    gain = frame["task"].map(-none["diff"])
    is_line = frame["line"].isin(study.lines)
    below = (none["mean"] < none["majority"]).map({True: "yes", False: "no"})
    predicted = [
        "lost" if task in study.predicted.get(line, ()) else "kept"
        for line, task in zip(frame["line"], frame["task"], strict=True)
    ]
    is_cell = is_line & frame["task"].isin(study.tasks)
    lost = (-frame["diff"] / gain).where(is_line & (gain >= LEAST))
    seeds = zip(frame["diff_by_seed"], frame["task"].map(none["diff_by_seed"]), lost, strict=True)
    frame = frame.assign(
        predicted=pd.Series(predicted, frame.index).where(is_cell),
        lost=lost,
        lost_by_seed=[
            ratios(own, of_none) if pd.notna(share) else () for own, of_none, share in seeds
        ],
        **{BELOW: frame["task"].map(below).where(is_line)},
    )
    shown = frame[is_cell]
    marks = shown[BELOW].map({"yes": MARK, "no": ""})
    titles = shown["task"].map(study.shown) + marks
    shown = shown.assign(head=titles, shown=_with_seeds(shown))
    matrix = markdown.pivot(shown, "line", "head", "shown").rename_axis("")
    return frame, ["## Share of the gain by pre-training that is lost", matrix, LEGEND]


def shares(frame: pd.DataFrame, bold: str = "") -> list[str]:
    """The shares lost as text, with `?` if undecided, and enclosed in `bold` if predicted."""
    texts = []
    for row in frame.itertuples():
        mark = bold if row.predicted == "lost" else ""
        is_sure = row.beyond_low > 0 or row.beyond_high < 0
        share = f"{mark}{round(100 * row.lost)}{mark}" if pd.notna(row.lost) else markdown.NONE
        texts.append(share if is_sure or pd.isna(row.lost) else f"{share}?")
    return texts


def _with_seeds(frame: pd.DataFrame) -> list[str]:
    """The shares as text, with those by seed where some fits of the line failed."""
    return [
        f"{text} ({' / '.join(f'{100 * share:.0f}' for share in row.lost_by_seed)})"
        if row.lost_by_seed and fits(row.alarms)
        else text
        for text, row in zip(shares(frame, bold="**"), frame.itertuples(), strict=True)
    ]


def cloze(results: Path, grid: Grid, study: StudyPlan) -> list[str | pd.DataFrame]:
    """The accuracy of each language model on each skill, as text; empty if none was scored."""
    models, update = study.points[0].of.models(), grid.updates[-1]
    lines = {point.of.model: point.line for point in reversed(study.points)}  # first line of each
    rows = []
    for variant, line in reversed(lines.items()):
        for model in models:
            own = replace(model, variant=variant)
            identity = {"arch": own.arch, "seed": own.seed, "update": update}
            scored = ClozeScores.find(own.cloze(results, update), **identity)
            for skill, score in scored.skills.items() if scored else ():
                rows.append((skill, line, own.seed, score.accuracy, score.chance))
    if not rows:
        return []
    scores = pd.DataFrame(rows, columns=["skill", "line", "seed", "accuracy", "chance"])
    seeds = [model.seed for model in models]
    wide = scores.pivot(index="skill", columns=["line", "seed"], values="accuracy")
    wide = wide.reindex(index=scores["skill"].unique())

    def shown(line: str) -> list[str]:
        of = wide[line].reindex(columns=seeds).map(lambda x: f"{x:.0f}").replace("nan", MISSING)
        return [" / ".join(row) for row in of.to_numpy()]

    frame = pd.DataFrame({line: shown(line) for line in scores["line"].unique()}, index=wide.index)
    frame["chance"] = scores.groupby("skill")["chance"].last().map("{:.0f}".format)
    of_seeds = f"of the model of pre-training seed {' / '.join(map(str, seeds))}"
    return ["## Cloze items", frame, f"Accuracy after update {update}, {of_seeds}."]
