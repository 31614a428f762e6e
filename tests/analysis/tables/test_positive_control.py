"""The positive control's checks hold where the effects are there, and fail one by one where not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tasks import task as task_named
from tasks.common.files import write_json
from tests.support.tables import write_table
from tests.workflow.configs import changed, full
from workflow.analysis import paper
from workflow.analysis.table import Table
from workflow.analysis.tables import positive_control
from workflow.configuration.read import parse
from workflow.grid import Grid
from workflow.plan import Plan

SHUFFLED_LINE = "experiment.studies.ablation.lines.Transformer w/ aux LM, shuffled"
GRID = Plan(parse(changed(full(), f"{SHUFFLED_LINE} words", {"pretrain.shuffled": "words"}))).grid()
SHOWN, TASKS = GRID.zero_shot.of("heuristic"), GRID.tasks
PROMPTED = [name for name in TASKS if name not in SHOWN]
EVERY = [*TASKS, "avg_all"]
FULL, NONE, LSTM = paper.FULL.title, paper.NO_PRETRAINING.title, paper.LSTM.title
NEITHER, CONTROL = paper.NEITHER.title, paper.SHUFFLED.title
PERMUTED = paper.PERMUTED.title
GAINS = {NONE: 25.0, NEITHER: 20.0, LSTM: 10.0, CONTROL: 22.0, PERMUTED: 26.0}
GAIN = "full minus no pre-training, mean of all tasks"
TASKS_UP = "tasks with 5 points more and the interval above 0"
BAG = "tasks above the bag of words baseline"
MAJORITY = "tasks above the majority baseline"
LEAD = "full minus the best baseline of each task, mean"
SHALLOW = "tasks above every shallow baseline"
ALONE = "pair tasks with one text alone near the constant answer"
COMPOSED = "full minus the best baseline of each task, compositional rows"
SHARE = "share of the gain that is left with shuffled words"
SHARE_PERMUTED = "share of the gain that is left with permuted embeddings"
SPREAD = "most points between seeds of a pre-trained cell"
DEVIATION = "largest sd over seeds of a variant's mean of all tasks"
RANKS = "rank correlation of the mean score with the layers transferred"
RISE = "all layers minus embeddings alone"
RISE_WITHOUT = "all layers minus embeddings alone, w/o aux LM"
RISES = "rises of that mean along the last 4 checkpoints"
PROMPTS = "tasks above 0.15 at the end, asked without training"
Tables = dict[str, Any]
Edit = Callable[[Tables], None]


def ablation(gains: dict[str, float], baseline: float = 50.0) -> pd.DataFrame:
    """Every variant on every task; `gains` are of the full transformer over the variant."""
    rows = []
    for variant, gain in {FULL: 0.0, **gains}.items():
        for task in [*TASKS, "avg", "avg_all"]:
            row = {"variant": variant, "task": task, "mean": 80.0 - gain, "diff": -gain}
            row |= {"metric": "accuracy", "split": "dev"}
            row |= {"diff_by_seed": ";".join(f"{-gain + more}" for more in (1, 0, -1))}
            row |= {"diff_low": -gain - 2, "diff_high": -gain + 2, "sd": 1.5, "by_seed": "60;75;70"}
            row |= {"corpus": "shuffled" if variant in (CONTROL, PERMUTED) else "books"}
            row |= {"n_transfer": "none" if variant in (NONE, NEITHER) else "12"}
            rows.append(row | {"majority": baseline, "bag_of_words": baseline})
    return pd.DataFrame(rows)


def degrees(lead: float = 15.0) -> pd.DataFrame:
    """The full transformer on compositional rows; lexical rows are of no account."""
    rows = [("compositional", 60.0 + lead), ("lexical", 60.0)]
    frame = pd.DataFrame(rows, columns=["degree", "mean"])
    return frame.assign(variant=FULL, task="avg_all", best_baseline=60.0)


def layer_transfer() -> pd.DataFrame:
    """The mean score along the layers, and a line of the user's own, which is of no account."""
    scores = {"none": 50.0, "0": 60.0, "3": 70.0, "6": 75.0, "9": 79.0, "12": 80.0}
    curve = [("on", FULL, n, score) for n, score in scores.items()]
    curve += [("off", paper.NO_AUX.title, n, 80 - 16 * (n == "0")) for n in ("0", "12")]
    curve += [(aux, "a line of one's own", n, 1.0) for aux, _, n, _ in curve]
    frame = pd.DataFrame(curve, columns=["aux", "line", "n_transfer", "mean"])
    return frame.assign(arch="transformer", task="mean", split="reported")


def zero_shot() -> pd.DataFrame:
    """Curves of the tasks with a heuristic, whose prompts are of no account; ends of the others."""
    curve = zip(GRID.updates[-4:], (0.1, 0.2, 0.4, 0.5), strict=True)
    rows = [(name, *point, "heuristic") for point in curve for name in (*SHOWN, "mean")]
    rows += [(name, update, 0.0, "prompt") for name, update, *_ in rows]
    rows += [(name, GRID.updates[-1], 0.2, "prompt") for name in PROMPTED]
    frame = pd.DataFrame(rows, columns=["task", "update", "relative", "scoring"])
    return frame.assign(arch="transformer")


def baselines() -> pd.DataFrame:
    """The scores of each task's baselines."""
    frame = pd.DataFrame({"task": TASKS, "majority": 50.0, "bag_of_words": 60.0})
    are_pairs = [task_named(name).family != "classification" for name in TASKS]
    return frame.assign(class_orders=68.0, one_text=np.where(are_pairs, 55.0, np.nan))


def control(folder: Path, *edits: Edit, grid: Grid = GRID) -> Table:
    """The control of a run in which every effect is there, but for the edits."""
    tables: Tables = {"ablation": ablation(GAINS), "degrees": degrees()}
    tables |= {"layer_transfer": layer_transfer(), "zero_shot": zero_shot()}
    tables["baselines"] = baselines()
    for edit in edits:
        edit(tables)
    for name, scores in tables.pop("baselines").set_index("task").iterrows():
        facts = {of: {"dev": {"accuracy": score}} for of, score in scores.dropna().items()}
        write_json(folder / "baselines" / f"{name}.json", {"task": name, **facts})
    for name, frame in tables.items():
        write_table(frame, folder / f"{name}.csv")
    return positive_control.positive_control(folder, grid)


def replaced(**tables: pd.DataFrame) -> Edit:
    """An edit that puts other tables in their places."""
    return lambda of: of.update(tables)


def put(name: str, where: dict[str, list], **values: Any) -> Edit:
    """An edit of some columns of a table, in the rows whose columns have the values of `where`."""

    def edit(tables: Tables) -> None:
        rows = tables[name].isin(where)[[*where]].all(axis=1)
        for column, value in values.items():
            tables[name].loc[rows, column] = value

    return edit


def on(variant: str, names: list[str], **values: float | str) -> Edit:
    """An edit of some tasks, or of their mean, of a variant."""
    return put("ablation", {"variant": [variant], "task": names}, **values)


def curve(*scores: float, line: str = FULL, layers: str = "0 3 6 9 12") -> Edit:
    """An edit of a line's curve over the layers."""
    return put("layer_transfer", {"line": [line], "n_transfer": layers.split()}, mean=scores)


def ends(names: list[str], *scores: float, scoring: str = "heuristic") -> Edit:
    """An edit of the last zero-shot scores of some tasks."""
    where = {"task": names, "scoring": [scoring], "update": GRID.updates[-len(scores) :]}
    return put("zero_shot", where, relative=scores * len(names))


def only(table: str, query: str) -> Edit:
    """An edit that leaves some rows of a table."""
    return lambda of: of.update({table: of[table].query(query, local_dict={"shown": SHOWN})})


def shallow(names: list[str], **scores: float) -> Edit:
    """An edit of the scores of baselines on some tasks."""
    return put("baselines", {"task": names}, **scores)


def a_line_of_ones_own(tables: Tables) -> None:
    table = tables["ablation"]
    mine = table[table["variant"] == FULL].assign(variant="Mine", by_seed="1;99", sd=9.0)
    tables["ablation"] = pd.concat([table, mine], ignore_index=True)


FAULTS = [  # a check, and an edit with which it just fails
    (GAIN, on(NONE, ["avg_all"], diff=-14.99, diff_high=-8.01)),
    (GAIN, on(NONE, ["avg_all"], diff=-15.0, diff_high=-8.0)),
    (TASKS_UP, on(NONE, TASKS[:4], diff=-4.99)),
    (TASKS_UP, on(NONE, TASKS[:4], diff_high=0.0)),
    (BAG, on(FULL, TASKS[:3], bag_of_words=80.0)),
    (MAJORITY, on(FULL, TASKS[:2], majority=80.0)),
    (LEAD, shallow(TASKS, class_orders=72.01)),
    (SHALLOW, shallow(TASKS[:3], bag_of_words=80.0)),
    (ALONE, shallow(["snli"], one_text=55.01)),
    (ALONE, shallow(["stsb"], one_text=60.01)),  # a correlation varies twice as much
    (COMPOSED, replaced(degrees=degrees(14.99))),
    (SHARE, on(CONTROL, ["avg_all"], diff=-25 * 2 / 3 + 0.01)),
    (SHARE_PERMUTED, on(PERMUTED, ["avg_all"], diff=-25 * 2 / 3 + 0.01)),
    (SPREAD, on(LSTM, TASKS[:1], by_seed="1;16.01")),
    (SPREAD, on(FULL, TASKS[:1], by_seed="70;85.01;71")),
    (SPREAD, on(LSTM, ["cola"], metric="matthews", by_seed="60;90.02")),
    (DEVIATION, on(LSTM, ["avg_all"], sd=1.51)),
    (RANKS, curve(60, 79, 70, 75, 80)),
    (RISE, curve(60, 62, 64, 66, 67.99)),
    (RISE_WITHOUT, curve(72.01, line=paper.NO_AUX.title, layers="0")),
    ("zero-shot mean at the end", ends(["mean"], 0.1, 0.2, 0.3, 0.3999)),
    (RISES, ends(["mean"], 0.5, 0.51, 0.51, 0.53)),
    ("zero-shot tasks above 0.15 at the end", ends(SHOWN[:2], 0.15)),
    (PROMPTS, ends(PROMPTED[:5], 0.15, scoring="prompt")),
]
FINE = [  # edits that no check is about, and a curve whose neighbours change places once
    shallow(["stsb"], one_text=60.0),
    on(NONE, TASKS[:1], by_seed="1;99"),
    on(CONTROL, TASKS[:1], by_seed="1;99"),
    on(LSTM, ["cola"], metric="matthews", by_seed="60;90"),
    on(FULL, ["avg"], sd=9),
    on(NONE, TASKS[:3], diff_high=0.0),
    curve(60, 75, 70, 79, 80),
    a_line_of_ones_own,
]
LACKING = [  # checks, and an edit without what they need
    ([RANKS, RISE, RISE_WITHOUT], only("layer_transfer", "n_transfer in ['12']")),
    ([COMPOSED], replaced(degrees=degrees().assign(degree=["relational", "lexical"]))),
    ([RISES], only("zero_shot", "update > 900")),
    ([PROMPTS], only("zero_shot", "task in @shown or task == 'mean'")),
    (
        [GAIN, TASKS_UP, SHARE, SHARE_PERMUTED],
        on(NONE, EVERY, mean=np.nan, diff=np.nan, diff_high=np.nan),
    ),
    ([BAG, MAJORITY, LEAD, SHALLOW, ALONE], on(FULL, EVERY, mean=np.nan, majority=np.nan)),
    # A line may be lacking, such as by its null in a later file.
    ([GAIN, TASKS_UP, SHARE_PERMUTED], replaced(ablation=ablation({PERMUTED: 26.0}))),
]


@pytest.mark.parametrize(
    ("checks", "met", "edit"),
    [
        *(([check], "no", edit) for check, edit in FAULTS),
        *(([], "no", edit) for edit in FINE),
        *((checks, "not run", edit) for checks, edit in LACKING),
    ],
)
def test_what_is_beyond_its_border_fails_one_check_and_what_is_not_there_none(
    tmp_path, checks, met, edit
):
    table = control(tmp_path, edit)
    others = table.frame[~table.frame["met"].isin(["yes", ""])]
    assert dict(others[["check", "met"]].values) == dict.fromkeys(checks, met)
    assert (f"Every check holds; {len(checks)} were not" in table.markdown) == (met == "not run")


def test_every_check_holds_where_the_effects_are_there(tmp_path):
    table = control(tmp_path)
    assert {*table.frame["met"]} == {"yes", ""}
    assert "Every check holds" in table.markdown and "nan" not in table.markdown
    found = table.frame.set_index("check")["ours"]
    assert found[GAIN] == 25
    assert found[SHARE] == pytest.approx(3 / 25)
    assert found[SHARE_PERMUTED] == pytest.approx(-1 / 25)
    assert (found[RISE], found[RISE_WITHOUT]) == (20, 16)
    assert (found[SPREAD], found[DEVIATION]) == (15, 1.5)
    told = table.frame[table.frame["met"] == ""].set_index("check")["ours"]
    assert dict(told) == {
        "full minus no pre-training and no auxiliary loss, mean of all tasks": 20,
        "full minus LSTM, mean of all tasks": 10,
    }


def test_a_config_that_asks_some_tasks_zero_shot_has_no_check_of_all(tmp_path):
    asked = GRID.zero_shot.model_copy(update={"tasks": SHOWN})
    frame = control(tmp_path, grid=GRID.model_copy(update={"zero_shot": asked})).frame
    assert PROMPTS not in {*frame["check"]} and RISES in {*frame["check"]}


@pytest.mark.parametrize("is_lexical", [False, True])
def test_the_lead_over_baselines_is_only_reported_where_all_rows_are_lexical(tmp_path, is_lexical):
    near = ablation({NONE: 25.0, NEITHER: 20.0, LSTM: 10.0}, baseline=79.9)
    rows = degrees(lead=0.0)[int(is_lexical) :]
    table = control(tmp_path, replaced(ablation=near.assign(bag_of_words=81.0), degrees=rows))
    met = table.frame.set_index("check")["met"].filter(regex="baseline$|baseline of|bag of words")
    met = met.drop(MAJORITY)
    assert [*met.index] == [BAG, LEAD, SHALLOW] + [COMPOSED] * (not is_lexical)
    assert ({*met} == {""}) == is_lexical and ("no" in {*met}) != is_lexical
    assert ("All rows of this world are lexical" in table.markdown) == is_lexical


def test_the_share_of_a_control_stands_by_seed_without_an_interval(tmp_path):
    table = control(tmp_path)
    row = table.frame.set_index("check").loc[SHARE]
    assert row["by_seed"] == pytest.approx((1 - 21 / 24, 1 - 22 / 25, 1 - 23 / 26))
    assert row[["ci_low", "ci_high"]].isna().all() and "0.12 / 0.12 / 0.12" in table.markdown
    for gained, by_seed in (("-24;0;-26", [1 - 21 / 24, np.nan, 1 - 23 / 26]), ("-24;-26", [])):
        found = control(tmp_path, on(NONE, ["avg_all"], diff_by_seed=gained)).frame
        by_check = found.set_index("check")
        assert by_check.at[SHARE, "by_seed"] == pytest.approx(tuple(by_seed), nan_ok=True)


@pytest.mark.parametrize(("seeds", "is_told"), [([0], True), (None, False)])
def test_a_control_of_fewer_seeds_is_told_below_its_share(tmp_path, seeds, is_told):
    own, config = {"seeds.pretrain": seeds} if seeds else {}, full()
    for kind in ("words", "sentences"):
        config = changed(config, f"{SHUFFLED_LINE} {kind}", {"pretrain.shuffled": kind} | own)
    text = control(tmp_path, grid=Plan(parse(config)).grid()).markdown
    assert ("Shuffled books have one pre-training seed" in text) == is_told


def test_their_average_is_not_counted_among_pair_tasks(tmp_path):
    pairs = GRID.model_copy(update={"tasks": ["rte", "snli"]})
    frame = control(tmp_path, grid=pairs).frame.set_index("check")
    assert frame.at[ALONE, "wanted"] == "all 2 of two texts"


def test_without_a_line_of_table_5_the_checks_of_other_lines_are_absent(tmp_path):
    names = {*control(tmp_path, replaced(ablation=ablation({PERMUTED: 26.0}))).frame["check"]}
    assert SHARE_PERMUTED in names and not {SHARE, "full minus LSTM, mean of all tasks"} & names
