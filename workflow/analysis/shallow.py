"""The shallow baselines of a run: how simple models of words score on each task.

They show which tasks need more than words. `tasks.baselines` says what each of them sees.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tasks.common.records import BaselinesRecord, Scores
from workflow.analysis import markdown
from workflow.configuration.sections import SHALLOW
from workflow.grid import Grid

ALL = ("majority", "bag_of_words", *(name for name in SHALLOW if name != "best"))


def scores(
    results: Path,
    table: pd.DataFrame,
    grid: Grid,
    averages: Mapping[str, Sequence[str]],
    degree: str = "",
) -> pd.DataFrame:
    """The score of each baseline (columns) on each task of the run and in the `averages` (rows).

    `best` is the highest of all, the constant answer included. A `degree` of the synthetic world
    takes the scores on its rows alone.

    Scores that do not exist are NaN: not every task has every baseline. `table` names the metric
    and splits of each task's headline score, as ablation.csv does. Its tasks that the run lacks are
    skipped, because their baselines could only be left over from a larger run. Raises InputError
    for a damaged file.
    """
    found = {}
    for row in table[table["task"].isin(grid.tasks)].drop_duplicates("task").itertuples():
        path = results / "baselines" / f"{row.task}.json"
        if record := BaselinesRecord.find(path, task=row.task):
            parts = [f"{s}_{degree}" if degree else s for s in row.split.split("+")]
            by_name: dict[str, Scores] = {name: getattr(record, name) for name in ALL}
            found[row.task] = {
                name: float(np.mean([of.get(part, {}).get(row.metric, np.nan) for part in parts]))
                for name, of in by_name.items()
            }
    frame = pd.DataFrame.from_dict(found, orient="index", columns=[*ALL])
    frame = frame.assign(best=frame.max(axis=1)).astype(float)
    frame = frame.reindex([*frame.index, *averages])
    for name, members in averages.items():
        frame.loc[name] = frame.reindex(members).mean(skipna=False)
    return frame


def below(wide: pd.DataFrame, scores: pd.DataFrame, heads: Mapping[str, str]) -> pd.DataFrame:
    """A `wide` table of text with the baselines below; `heads` are its columns by task."""
    mine = scores.reindex(list(heads))[[*SHALLOW]].T
    mine = mine[mine.notna().any(axis=1)]
    if mine.empty:
        return wide
    lines = mine.map(markdown.value).rename(index=SHALLOW, columns=dict(heads))
    return pd.concat([wide, lines]).fillna(markdown.NONE)


def note(scores: pd.DataFrame, grid: Grid) -> list[str]:
    """A paragraph that explains the lines of the baselines."""
    if not scores["best"].notna().any():
        return []
    said = (
        "The lines below the bag of words are fitted on the training rows, too. "
        "The best is that of these, the bag of words and the constant answer. "
        "Word overlap: how many words two texts share. One text alone: the bag of words of the "
        "better of two texts, of multiple choice of the choices. Words x words: each pair of words "
        "across the texts. Affix bigrams: first and last letters of neighbouring words. "
    )
    classes = (
        "Word classes: the classes of the books' words in place of words. In order: ordered pairs "
        "of classes within three words, and pairs of these across the texts. Nearest neighbours: "
        "the five training rows with the most similar runs of classes."
    )
    return [said + (classes if grid.has_corpus else "Without books there are no word classes.")]
