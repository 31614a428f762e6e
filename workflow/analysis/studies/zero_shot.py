"""The fine-tuned scores from each checkpoint beside its zero-shot scores."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from gpt1.cell import PretrainedModel
from gpt1.records import ZeroShotScore
from workflow.analysis import markdown
from workflow.analysis.lines import Key
from workflow.analysis.stats.estimates import Line
from workflow.grid import StudyPlan


def add(
    table: pd.DataFrame, results: Path, study: StudyPlan, scores: Mapping[Key, Line]
) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The table with a column `zero_shot`, the checkpoint's mean score, and a section on it."""
    found = _zero_shot(results, study, scores)
    places = [point.key for point in study.points if point.value]
    mean = found.pivot_table(index=["line", "value"], columns="task", values="zero_shot")
    mean = mean.reindex(index=places, columns=study.tasks)
    mean["mean"] = mean.mean(axis=1, skipna=False)  # NaN unless every task has a score
    long = mean.rename_axis(columns="task").stack().rename("zero_shot").reset_index()
    table = table.merge(long, on=["line", "value", "task"], how="left")
    titles = {task: study.shown(task) for task in study.tasks}
    titles |= {"mean": f"mean of {len(study.tasks)}"} if len(study.tasks) > 1 else {}
    wide = mean.loc[study.lines[0]][list(titles)].rename(columns=titles).dropna(axis=1, how="all")
    if wide.empty:
        return table, []
    shown = wide.map(lambda score: markdown.value(score, markdown.MISSING))
    shown.index = [f"{study.axis} {value}" for value in shown.index]
    heading = "## The same checkpoints, zero-shot"
    return table, [heading, shown.rename_axis("")]


def _zero_shot(results: Path, study: StudyPlan, scores: Mapping[Key, Line]) -> pd.DataFrame:
    """The zero-shot score of each line, checkpoint, task and pre-training seed.

    Only the run's own language models have zero-shot scores; those of variants have none.
    """
    rows = []
    for point in study.points:
        for task in study.tasks if point.value and not point.of.model else ():
            score = scores[point.key][task]
            for seed in dict.fromkeys(score.pretrain) if score else ():
                model = PretrainedModel(point.of.arch, seed)
                path = model.zero_shot(results, task, int(point.value))
                if path.exists():
                    rows.append((*point.key, task, ZeroShotScore.read(path).score))
    return pd.DataFrame(rows, columns=["line", "value", "task", "zero_shot"])
