"""The tables of Tables 2 to 4, `main`, and of what overlaps the corpus, `contamination`.

`gpt1.contamination` marks the rows of the reported splits that share 13 consecutive words with the
corpus: these are contaminated. The others are the decontaminated rows, including those too short
to tell. A cell's scores on them are computed from its stored predictions.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from gpt1.records import Marks, N
from tasks.examples import ExamplesFacts
from tasks.metrics import score
from workflow.analysis import markdown
from workflow.analysis.paper import NUMBERS, OURS, TABLES_2_TO_4
from workflow.analysis.rows import Notes, answers, check_examples, read_predictions
from workflow.analysis.stats.estimates import Estimate, numbers
from workflow.analysis.stats.samples import Samples, official_sets
from workflow.analysis.stats.scores import seeds_that_fit
from workflow.analysis.table import Table
from workflow.grid import Grid

FURTHER = "beside Table 4"
TITLES = {
    "Table 2": "Natural language inference (Table 2): accuracy",
    "Table 3": "Question answering and commonsense reasoning (Table 3): accuracy",
    "Table 4": "Similarity and classification (Table 4)",
    FURTHER: "The further metrics of those tasks, which the paper does not print",
}
VARIANTS = {  # by aux
    "on": "Finetuned Transformer LM (this run)",
    "off": "Finetuned Transformer LM w/o aux LM (this run)",
}
PLACE = ["table", "column", "task", "split", "metric", "carries_paper"]
SCORED = ["aux", "task", "split", "metric"]
DECONTAMINATED = ["decontaminated_mean", "decontaminated_sd", "decontaminated_rows"]
MARKED = ["task", "split", "row", "share", "short", "aux", "seed", "group", "label", "prediction"]
OVERLAP = [
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "n_seeds", "mean", "sd"),
    *("alarms", "note", "rows", "share", "short"),
]
ABOUT_MAIN = (
    "The rows above this run's are the paper's: published systems and its own model, scored by "
    "the GLUE test server or on the public test sets. The split that a column head names is "
    "that of this run's rows, of the constant answer and of the bag of words: dev is not "
    "test. (5x) is an ensemble of five. GLUE is the server's own average over test labels that "
    "are not public. "
)
DECONTAMINATED_LINES = (
    f"Decontaminated: without the rows that share {N} words in a row with the pre-training corpus; "
    "a model without such a line has the same scores on the others. "
)
ABOUT_OVERLAP = (
    f"Contaminated: share of the rows that have, within one text, {N} words in a row (line ends "
    "not counted) that also occur in the training part of the corpus. A story and its ending are "
    "one text; DPRD's sentence is two, split at the pronoun. Too short: share of the rows without "
    "a text of that length, of which nothing can be said; they count as decontaminated. The "
    "scores are those of the fully transferred transformer. " + markdown.LEGEND
)


def main(results: Path, grid: Grid) -> Table:
    """Tables 2 to 4: published systems and the paper's model beside this run's models.

    One row per (this run's model, column, split) and one per published figure. Ours is the fully
    transferred transformer, fine-tuned with the auxiliary LM objective as the paper's is, and
    without it. The published scores are on test sets; the column heads name the split of *this
    run's* rows.
    """
    samples = Samples.of_cells(results, grid, grid.studies["ablation"].cells())
    notes = Notes.read(results, grid.tasks)
    places = pd.DataFrame(_places(samples), columns=PLACE)
    places["head"] = [_head(place, notes) for place in places.itertuples()]
    marked = _marked_rows(results, grid, grid.tasks)
    ours = decontaminated(_ours(grid, samples, places), marked, grid, samples)
    ours = ours.assign(note=ours["task"].map(notes.of), source="this run")
    table = pd.concat([_published(places), ours], ignore_index=True)
    parts: list[str | pd.DataFrame] = ["# Tables 2 to 4"]
    for name, title in TITLES.items():
        parts += [f"## {title}", _wide(table[table["table"] == name], grid.has_corpus)]
    more = DECONTAMINATED_LINES if grid.has_corpus else ""
    parts += [*notes.footnote(), ABOUT_MAIN + more + markdown.LEGEND]
    return Table(table.drop(columns=["head", "carries_paper"]), parts)


def _places(samples: Samples) -> Iterator[tuple]:
    """The rows of PLACE; the published score goes with the first split, test if there is one."""
    columns = NUMBERS[(NUMBERS["method"] == OURS) & (NUMBERS["task"] != "glue")]
    for of in columns.itertuples():
        task, splits = tasks.task(of.task), samples.reported(of.task)
        if not task.averages_splits:  # the whole task, or a group of RACE's
            splits = [split + of.part for split in splits]
        else:  # one of MNLI's two
            splits = [s for s in splits if s.endswith(of.part)] or [f"dev{of.part}"]
        for split in splits:
            yield (of.table, of.column, of.task, split, task.metric, split == splits[0])
    for name in columns.loc[columns["table"] == "Table 4", "task"]:
        for metric in tasks.task(name).metrics:
            if metric != tasks.task(name).metric:
                split = samples.headline_splits(name)[0]
                yield (FURTHER, f"{name}_{metric}", name, split, metric, False)


def _head(place: Any, notes: Notes) -> str:
    split = official_sets(place.split)
    if place.table in ("Table 2", "Table 3"):
        return f"{notes.mark(place.task, place.column)} ({split})"
    return f"{notes.mark(place.task)} ({markdown.METRICS[place.metric]}, {split})"


def _published(places: pd.DataFrame) -> pd.DataFrame:
    table = TABLES_2_TO_4.rename(columns={"method": "variant", "value": "paper"})
    printed = places.loc[places["carries_paper"], ["column", "metric", "head"]]
    table = table.drop(columns="part").merge(printed, on="column", how="left")
    table = table.fillna({"metric": "mean", "head": "GLUE"})
    sources = {True: "paper", False: "published"}
    return table.assign(split="test", source=(table["variant"] == OURS).map(sources))


def _ours(grid: Grid, samples: Samples, places: pd.DataFrame) -> pd.DataFrame:
    """The rows of this run's models."""
    printed = NUMBERS[NUMBERS["method"] == OURS].set_index("column")["value"]
    cells = {(grid.variant(cell).aux, cell.task): cell for cell in grid.full_transformer()}
    rows = []
    for place in places.to_dict("records"):
        score_of = partial(samples.of, split=place["split"], metric=place["metric"])
        seeds = samples.seed_pool(grid, score_of)
        for aux in grid.aux:
            cell = cells.get((aux, place["task"]))
            fit = samples.of(cell, "train", place["metric"])
            line, carries = {place["task"]: score_of(cell)}, place["carries_paper"] and aux == "on"
            rows.append(
                {
                    **place,
                    "aux": aux,
                    "paper": printed.get(place["column"]) if carries else None,
                    "arch": "transformer",
                    "n_transfer": str(grid.n_layer.get("transformer", "all")),
                    "variant": VARIANTS[aux],
                    **numbers(seeds.estimate([(1.0, line)], {place["task"]: 1.0})),
                    "train": fit.value if fit else np.nan,
                }
            )
    return pd.DataFrame(rows)


def _wide(table: pd.DataFrame, has_corpus: bool) -> pd.DataFrame:
    """Models down, the published ones first; columns of the paper across."""
    is_ours = table["source"] == "this run"
    ours, published = table[is_ours], table[~is_ours]
    labels = published["variant"].str.replace("(ours)", "(the paper)")
    shown = published["paper"].map(markdown.value)
    lines = [published.assign(line="*" + labels + "*", shown=shown)]
    for variant, mine in ours.groupby("variant", sort=False):
        lines.append(markdown.scores(mine, variant))
        fit = mine["train"].map(markdown.value)
        lines.append(lines[-1].assign(line=f"{variant}, training rows", shown=fit))
        ran = mine.dropna(subset=["mean"])
        if has_corpus and not np.allclose(ran["decontaminated_mean"], ran["mean"]):
            lines.append(_decontaminated_line(lines[-2]))
    wide = markdown.with_baselines(pd.concat(lines), markdown.baselines(ours, "head"))
    return wide.rename_axis("model")


def _decontaminated_line(line: pd.DataFrame) -> pd.DataFrame:
    """The line of scores on decontaminated rows, with their number in each cell if it varies."""
    shown = line.apply(markdown.decontaminated, axis=1)
    model = line["line"] + ", decontaminated"
    counts = line["decontaminated_rows"].dropna().unique()
    if len(counts) == 1 and counts[0] > 0:
        number = f" (n {counts[0]:.0f})"
        shown, model = shown.str.removesuffix(number), model + number
    return line.assign(line=model, shown=shown)


def contamination(results: Path, grid: Grid) -> Table:
    """The share of the reported rows that overlap the corpus, and the scores without them.

    One row per (task, split, aux); shares in percent of the split's rows. A row is a task, a
    reported split (or one of RACE's groups) and this run's fully transferred transformer with or
    without the auxiliary loss. A task that is only in the zero-shot figure has no such cell.
    """
    samples = Samples.of_cells(results, grid, grid.full_transformer())
    notes, rows = Notes.read(results, grid.examples), []
    marked = _marked_rows(results, grid, grid.examples)
    each = marked.drop_duplicates(["task", "split", "row"]).groupby(["task", "split"])
    shares = 100.0 * each[["share", "short"]].mean().assign(rows=each.size() / 100.0)
    for name in grid.examples:
        cells = [cell for cell in grid.full_transformer() if cell.task == name]
        searched = shares.query("task == @name").droplevel("task").to_dict("index")
        for split in searched or samples.reported(name):
            line = {"task": name, "metric": grid.task(name).metric, "note": notes.of(name)}
            line |= {"split": split, **searched.get(split, {})}
            for cell in cells:
                own = grid.variant(cell)
                place = {"arch": own.arch, "aux": own.aux, "variant": VARIANTS[own.aux]}
                place |= {"n_transfer": str(own.n_transfer)}
                found = samples.of(cell, split, line["metric"])
                estimate = Estimate(found, (found.over_seeds,)) if found else None
                rows.append(line | place | numbers(estimate))
            if not cells:
                rows.append(line | numbers(None))
    table = decontaminated(pd.DataFrame(rows).reindex(columns=OVERLAP), marked, grid, samples)
    percent = "{:.1f} %"
    text = pd.DataFrame(
        {
            "task": table["task"].map(notes.mark),
            "split": table["split"],
            "rows": table["rows"].map("{:.0f}".format),
            "contaminated": table["share"].map(percent.format),
            "too short": table["short"].map(percent.format),
            "metric": table["metric"].map(markdown.METRICS),
        }
    )
    text.loc[table["rows"].isna(), ["rows", "contaminated", "too short"]] = markdown.MISSING
    wide = text.drop_duplicates().set_index(["task", "split"])
    text["all rows"] = table.apply(markdown.score, axis=1)
    text["decontaminated"] = table.apply(markdown.decontaminated, axis=1)
    for aux in grid.aux:
        of_aux = text[table["aux"] == aux].set_index(["task", "split"])
        for name in ("all rows", "decontaminated"):
            wide[f"aux {aux}: {name}"] = of_aux[name]
    wide = wide.fillna(markdown.NONE).reset_index("split")
    return Table(table, ["# Contamination", wide, *notes.footnote(), ABOUT_OVERLAP])


def _marked_rows(results: Path, grid: Grid, names: Iterable[str]) -> pd.DataFrame:
    """The reported rows of the tasks for which the corpus was searched, by the columns MARKED.

    `row` is the place in the split; `share` is true of contaminated rows, `short` of rows too short
    to be. Of a task with predictions of the fully transferred transformer, each row is there for
    every `aux` and seed, and rows with a group (RACE's middle and high) again under a split of
    their own. Raises InputError if marks, examples and predictions are not of the same rows.
    """
    frames = []
    for name in names:
        path, facts = (results / kind / f"{name}.json" for kind in ("contamination", "examples"))
        if (marks := Marks.find(path, task=name)) is None:
            continue
        check_examples(path, marks.examples, facts, ExamplesFacts.read(facts).sha256)
        flags = {
            split: pd.DataFrame({"share": np.array(of.match) >= N, "short": np.array(of.words) < N})
            for split, of in marks.splits.items()
        }
        rows = pd.concat(flags, names=["split", "row"]).reset_index()
        answered = []
        for cell in grid.full_transformer():
            if cell.task == name and (found := read_predictions(results, cell)):
                check_examples(path, marks.examples, found.path, found.examples)
                answered.append(found.rows.assign(aux=grid.variant(cell).aux))
        if answered:
            said = pd.concat(answered)
            said["row"] = said.groupby(["aux", "seed", "split"]).cumcount()
            rows = rows.merge(said, on=["split", "row"])
            groups = rows[rows["group"] != ""]
            of_groups = groups.assign(split=groups["split"] + "_" + groups["group"])
            rows = pd.concat([rows, of_groups])
        frames.append(rows.assign(task=name))
    return pd.concat(frames) if frames else pd.DataFrame(columns=MARKED)


def decontaminated(
    table: pd.DataFrame, marked: pd.DataFrame, grid: Grid, samples: Samples
) -> pd.DataFrame:
    """`table` with the scores of the fully transferred transformer on the decontaminated rows.

    Tables are matched by the columns SCORED. DECONTAMINATED are added: mean and standard deviation
    over the seeds whose fits have not failed (n-1; NaN for one), 0 to 100, and the number of rows.
    The scores are NaN if no row is left; all three are NaN where the corpus was not searched.
    """
    cells, runs = {(grid.variant(of).aux, of.task): of for of in grid.full_transformer()}, []
    for (*place, split), rows in marked.groupby(["aux", "task", "split"]):
        whole, task = samples.headline(cells[*place]), grid.task(place[1])
        for seed in seeds_that_fit(whole) if whole else ():
            kept = rows[(rows["seed"] == seed) & ~rows["share"]]
            said, labels = (answers(task, kept[key]) for key in ("prediction", "label"))
            scores = {} if kept.empty else score(task.spec, said, labels)
            runs += [(*place, split, m, scores.get(m, np.nan), len(kept)) for m in task.metrics]
    found = pd.DataFrame(runs, columns=[*SCORED, "score", "rows"]).groupby(SCORED, as_index=False)
    columns = ("score", "mean"), ("score", "std"), ("rows", "first")
    over_seeds = found.agg(**dict(zip(DECONTAMINATED, columns, strict=True)))
    return table.merge(over_seeds, on=SCORED, how="left")
