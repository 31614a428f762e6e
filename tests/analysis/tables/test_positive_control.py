"""The positive control's checks hold where the effects are there, and fail one by one where not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tasks import task as task_named
from tasks.common.files import write_json
from tests.support.tables import write_table
from tests.workflow.configs import changed, full
from workflow.analysis import paper
from workflow.analysis.stats.bootstrap import N_RESAMPLES
from workflow.analysis.stats.samples import Samples, part_path
from workflow.analysis.stats.scores import Score
from workflow.analysis.tables import positive_control
from workflow.configuration.read import parse
from workflow.plan import Plan

SHUFFLED_WORDS = "experiment.studies.ablation.lines.Transformer w/ aux LM, shuffled words"
GRID = Plan(parse(changed(full(), SHUFFLED_WORDS, {"pretrain.shuffled": "words"}))).grid()
SHOWN = GRID.zero_shot.of("heuristic")
FULL, NONE, LSTM = paper.FULL.title, paper.NO_PRETRAINING.title, paper.LSTM.title
NEITHER, CONTROL = paper.NEITHER.title, paper.SHUFFLED.title
PERMUTED = paper.PERMUTED.title
TASKS = GRID.tasks
GAINS = {NONE: 25.0, NEITHER: 20.0, LSTM: 10.0, CONTROL: 22.0, PERMUTED: 26.0}
NOT_SAMPLED = np.full((1, N_RESAMPLES), np.nan)
NO_ROWS = Score(
    (0,), (0,), np.array([50.0]), NOT_SAMPLED, 0, train_tokens={0: 1.0}, alarms={0: ("",)}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder of samples without rows, so that the share has no interval."""
    folder, samples = tmp_path_factory.mktemp("samples"), Samples()
    samples.cells.update({cell: {("dev", "accuracy", ""): NO_ROWS} for cell in GRID.cells()})
    for part in GRID.parts():
        samples.write(part_path(folder, part))
    shallow(folder)
    return folder


def shallow(folder: Path, **changed: dict[str, float]) -> None:
    """The baselines of each task, with the scores by task in `changed` in place of good ones."""
    good = {"majority": 50.0, "bag_of_words": 60.0, "one_text": 55.0, "class_orders": 68.0}
    for name in TASKS:
        scores = {k: changed.get(k, {}).get(name, value) for k, value in good.items()}
        if task_named(name).family == "classification":
            scores.pop("one_text")
        facts = {k: {"dev": {"accuracy": value}} for k, value in scores.items()}
        write_json(folder / "baselines" / f"{name}.json", {"task": name, **facts})


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


def write(folder: Path, **changed: pd.DataFrame) -> Path:
    """The three tables that the checks read, with those in `changed` in place of good ones."""
    scores = {"none": 50.0, "0": 60.0, "3": 70.0, "6": 75.0, "9": 79.0, "12": 80.0}
    curve = [("transformer", "mean", "reported", n, "on", x) for n, x in scores.items()]
    curve += [
        ("transformer", "mean", "reported", n, "off", 80 - 16 * (n == "0")) for n in ("0", "12")
    ]
    layers = pd.DataFrame(curve, columns=["arch", "task", "split", "n_transfer", "aux", "mean"])
    layers["line"] = layers["aux"].map({"on": paper.FULL.title, "off": paper.NO_AUX.title})
    own = layers.assign(line="a line of one's own", mean=1.0)  # which is of no account
    layers = pd.concat([layers, own], ignore_index=True)
    names = [*SHOWN, "mean"]
    points = [
        ("transformer", task, update, relative)
        for task in names
        for update, relative in zip(GRID.updates[-4:], (0.1, 0.2, 0.4, 0.5), strict=True)
    ]
    zero_shot = pd.DataFrame(points, columns=["arch", "task", "update", "relative"])
    of_no_account = zero_shot.assign(scoring="prompt", relative=0.0)  # as each has a heuristic
    asked = pd.DataFrame({"task": [name for name in TASKS if name not in SHOWN], "relative": 0.2})
    asked = asked.assign(arch="transformer", update=GRID.updates[-1], scoring="prompt")
    frames = [zero_shot.assign(scoring="heuristic"), of_no_account, asked]
    zero_shot = pd.concat(frames, ignore_index=True)
    good = {"ablation": ablation(GAINS)}
    good |= {"layer_transfer": layers, "zero_shot": zero_shot, "degrees": degrees()}
    for name, frame in (good | changed).items():
        write_table(frame, folder / f"{name}.csv")
    return folder


def missed(folder: Path) -> list[str]:
    frame = positive_control.build(folder, GRID).frame
    return list(frame[frame["met"] == "no"]["check"])


def test_the_lead_over_baselines_is_only_reported_where_all_rows_are_lexical(folder):
    near = ablation({NONE: 25.0, NEITHER: 20.0, LSTM: 10.0}, baseline=79.9)
    words = ("best baseline", "shallow baseline", "bag of words")
    for lexical in (False, True):
        of_rows = degrees(lead=0.0)
        of_rows = of_rows[of_rows["degree"] == "lexical"] if lexical else of_rows
        write(folder, ablation=near.assign(bag_of_words=81.0), degrees=of_rows)
        table = positive_control.build(folder, GRID)
        told = table.frame[table.frame["met"] == ""]["check"]
        named = table.frame["check"].str.contains("|".join(words))
        assert (
            named.sum() == 4 - lexical and (set(table.frame["check"][named]) <= {*told}) == lexical
        )
        assert ("All rows of this world are lexical" in table.markdown) == lexical
        assert bool({*missed(folder)} & {*table.frame["check"][named]}) != lexical


def test_every_check_holds_where_the_effects_are_there(folder):
    assert missed(write(folder)) == []
    table = positive_control.build(folder, GRID)
    assert "Every check holds" in table.markdown and "nan" not in table.markdown
    found = table.frame.set_index("check")["ours"]
    assert found["full minus no pre-training, mean of all tasks"] == 25
    assert found["share of the gain that is left with shuffled words"] == pytest.approx(3 / 25)
    assert found["share of the gain that is left with permuted embeddings"] == pytest.approx(
        -1 / 25
    )
    assert (found[RISE], found[RISE_WITHOUT]) == (20, 16)
    assert (found[SPREAD], found[DEVIATION]) == (15, 1.5)
    told = table.frame[table.frame["met"] == ""].set_index("check")["ours"]
    assert dict(told) == {
        "full minus no pre-training and no auxiliary loss, mean of all tasks": 20,
        "full minus LSTM, mean of all tasks": 10,
    }


def test_the_share_of_a_control_stands_by_seed_without_an_interval(folder):
    table = positive_control.build(write(folder), GRID)
    row = table.frame.set_index("check").loc[SHARE]
    assert row["by_seed"] == pytest.approx((1 - 21 / 24, 1 - 22 / 25, 1 - 23 / 26))
    assert row[["ci_low", "ci_high"]].isna().all() and "0.12 / 0.12 / 0.12" in table.markdown
    for gained, by_seed in (("-24;0;-26", [1 - 21 / 24, np.nan, 1 - 23 / 26]), ("-24;-26", [])):
        tables = {"ablation": ablation(GAINS)}
        on_rows(NONE, ["avg_all"], diff_by_seed=gained)(tables)
        found = positive_control.build(write(folder, **tables), GRID).frame.set_index("check")
        assert found.at[SHARE, "by_seed"] == pytest.approx(tuple(by_seed), nan_ok=True)


@pytest.mark.parametrize(("control", "is_told"), [([0], True), (None, False)])
def test_a_control_of_fewer_seeds_is_told_below_its_share(folder, control, is_told):
    own = {"seeds.pretrain": control} if control else {}
    line = "experiment.studies.ablation.lines.Transformer w/ aux LM, shuffled "
    config = full()
    for kind in ("words", "sentences"):
        config = changed(config, f"{line}{kind}", {"pretrain.shuffled": kind} | own)
    grid = Plan(parse(config)).grid()
    text = positive_control.build(write(folder), grid).markdown
    assert ("Shuffled books have one pre-training seed" in text) == is_told


GAIN = "full minus no pre-training, mean of all tasks"
TASKS_UP = "tasks with 5 points more and the interval above 0"
BAG = "tasks above the bag of words baseline"
MAJORITY = "tasks above the majority baseline"
SHARE = "share of the gain that is left with shuffled words"
RANKS = "rank correlation of the mean score with the layers transferred"
SHARE_PERMUTED = "share of the gain that is left with permuted embeddings"
RISE = "all layers minus embeddings alone"
RISE_WITHOUT = "all layers minus embeddings alone, w/o aux LM"
SPREAD = "most points between seeds of a pre-trained cell"
DEVIATION = "largest sd over seeds of a variant's mean of all tasks"
END = "zero-shot mean at the end"
RISES = "rises of that mean along the last 4 checkpoints"
TASKS_SHOWN = "zero-shot tasks above 0.15 at the end"
PROMPTS = "tasks above 0.15 at the end, asked without training"


COMPOSED = "full minus the best baseline of each task, compositional rows"


Edit = Callable[[dict[str, pd.DataFrame]], None]


def on_rows(variant: str, names: list[str], **values: float | str) -> Edit:
    """An edit of some tasks, or of their mean, of a variant."""

    def edit(tables: dict[str, pd.DataFrame]) -> None:
        table = tables["ablation"]
        rows = table["task"].isin(names) & (table["variant"] == variant)
        table.loc[rows, list(values)] = list(values.values())

    return edit


def on_tasks(variant: str, n: int, **values: float | str) -> Edit:
    """An edit of the first `n` tasks of a variant."""
    return on_rows(variant, TASKS[:n], **values)


def on_mean(gain: float, high: float) -> Edit:
    """An edit of what pre-training adds on average, and of the end of its interval."""
    return on_rows(NONE, ["avg_all"], diff=-gain, diff_high=high)


def curve(*scores: float, aux: str = "on") -> Edit:
    """An edit of the transformer's curve over the layers, `none` left out."""

    def edit(tables: dict[str, pd.DataFrame]) -> None:
        table = tables["layer_transfer"]
        table.loc[
            (table["n_transfer"] != "none")
            & (table["aux"] == aux)
            & table["line"].str.startswith("Tr"),
            "mean",
        ] = scores

    return edit


def zero_shot(names: list[str], *scores: float, scoring: str = "heuristic") -> Edit:
    """An edit of the last zero-shot scores of some tasks."""

    def edit(tables: dict[str, pd.DataFrame]) -> None:
        table = tables["zero_shot"]
        for name in names:
            is_row = (table["task"] == name) & (table["scoring"] == scoring)
            places = table.index[is_row][-len(scores) :]
            table.loc[places, "relative"] = scores

    return edit


FAULTS = [  # a check, and an edit with which it just fails
    (GAIN, on_mean(14.99, -8.01)),
    (GAIN, on_mean(15.0, -8.0)),
    (TASKS_UP, on_tasks(NONE, 4, diff=-4.99)),
    (TASKS_UP, on_tasks(NONE, 4, diff_high=0.0)),
    (BAG, on_tasks(FULL, 3, bag_of_words=80.0)),
    (MAJORITY, on_tasks(FULL, 2, majority=80.0)),
    (SHARE, on_rows(CONTROL, ["avg_all"], diff=-25 * 2 / 3 + 0.01)),
    (SHARE_PERMUTED, on_rows(PERMUTED, ["avg_all"], diff=-25 * 2 / 3 + 0.01)),
    (SPREAD, on_tasks(LSTM, 1, by_seed="1;16.01")),
    (SPREAD, on_tasks(FULL, 1, by_seed="70;85.01;71")),
    (SPREAD, on_rows(FULL, ["cola"], metric="matthews", by_seed="60;90.02")),
    (DEVIATION, on_rows(LSTM, ["avg_all"], sd=1.51)),
    (RANKS, curve(60, 79, 70, 75, 80)),
    (RISE, curve(60, 62, 64, 66, 67.99)),
    (RISE_WITHOUT, curve(72.01, 80, aux="off")),
    (END, zero_shot(["mean"], 0.1, 0.2, 0.3, 0.3999)),
    (RISES, zero_shot(["mean"], 0.5, 0.51, 0.51, 0.53)),
    (TASKS_SHOWN, zero_shot(SHOWN[:2], 0.15)),
    (PROMPTS, zero_shot([n for n in TASKS if n not in SHOWN][:5], 0.15, scoring="prompt")),
    (COMPOSED, lambda of: of.update(degrees=degrees(14.99))),
]
FINE = [  # edits that no check is about, and a curve whose neighbours change places once
    on_tasks(NONE, 1, by_seed="1;99"),
    on_tasks(CONTROL, 1, by_seed="1;99"),
    on_rows(FULL, ["cola"], metric="matthews", by_seed="60;90"),
    on_rows(FULL, ["avg"], sd=9),
    on_tasks(NONE, 3, diff_high=0.0),
    curve(60, 75, 70, 79, 80),
]


DEPTH = [  # a check, and scores of a baseline with which it just fails
    (
        "full minus the best baseline of each task, mean",
        {"class_orders": dict.fromkeys(TASKS, 72.01)},
    ),
    (
        "tasks above every shallow baseline",
        {"bag_of_words": dict.fromkeys(TASKS[:3], 80.0)},
    ),
    (
        "pair tasks with one text alone near the constant answer",
        {"one_text": {"snli": 55.01, "stsb": 60.0}},
    ),
    (
        "pair tasks with one text alone near the constant answer",
        {"one_text": {"stsb": 60.01}},  # a correlation varies twice as much
    ),
]


def test_their_average_is_not_counted_among_pair_tasks(folder):
    pairs = GRID.model_copy(update={"tasks": ["rte", "snli"]})
    *_, check = positive_control._depth(folder, ablation({}), pairs)
    assert check[1] == "all 2 of two texts"


@pytest.mark.parametrize(("check", "scores"), DEPTH)
def test_tasks_that_words_alone_solve_fail_their_checks(tmp_path, folder, check, scores):
    for part in GRID.parts():
        path = part_path(tmp_path, part)
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(part_path(folder, part))
    write(tmp_path)
    shallow(tmp_path, **scores)
    assert missed(tmp_path) == [check]


EVERY = [*TASKS, "avg_all"]
LACKING = [  # checks, and an edit without what they need
    (
        [RANKS, RISE, RISE_WITHOUT],
        lambda of: of.update(layer_transfer=of["layer_transfer"].query("n_transfer in ['12']")),
    ),
    ([COMPOSED], lambda of: of.update(degrees=degrees().assign(degree=["relational", "lexical"]))),
    ([RISES], lambda of: of.update(zero_shot=of["zero_shot"].query("update > 900"))),
    (
        [GAIN, TASKS_UP, SHARE, SHARE_PERMUTED],
        on_rows(NONE, EVERY, mean=np.nan, diff=np.nan, diff_high=np.nan),
    ),
    (
        [BAG, MAJORITY, *dict.fromkeys(check for check, _ in DEPTH)],
        on_rows(FULL, EVERY, mean=np.nan, majority=np.nan),
    ),
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
    folder, checks, met, edit
):
    write(folder)
    tables = {
        name: pd.read_csv(folder / f"{name}.csv", dtype={"n_transfer": str})
        for name in ("ablation", "degrees", "layer_transfer", "zero_shot")
    }
    edit(tables)
    table = positive_control.build(write(folder, **tables), GRID)
    others = table.frame[~table.frame["met"].isin(["yes", ""])]
    assert dict(others[["check", "met"]].values) == dict.fromkeys(checks, met)
    assert (f"Every check holds; {len(checks)} were not" in table.markdown) == (met == "not run")


def test_zero_shot_tasks_are_counted_only_where_every_task_was_asked(folder):
    write(folder)
    table = pd.read_csv(folder / "zero_shot.csv")
    table = table[table["task"].isin([*SHOWN, "mean"])]  # of the paper's own four tasks alone
    frame = positive_control.build(write(folder, zero_shot=table), GRID).frame
    assert frame.set_index("check")["met"][[TASKS_SHOWN, PROMPTS]].to_list() == ["yes", "not run"]
    asked = GRID.zero_shot.model_copy(update={"tasks": SHOWN})  # and the config wants no more
    frame = positive_control.build(folder, GRID.model_copy(update={"zero_shot": asked})).frame
    assert PROMPTS not in [*frame["check"]] and TASKS_SHOWN in [*frame["check"]]


def test_a_line_of_ones_own_is_of_no_account_for_the_recipe(folder):
    table = pd.read_csv(write(folder) / "ablation.csv", dtype={"n_transfer": str})
    mine = table[table["variant"] == FULL].assign(variant="Mine", by_seed="1;99", sd=9.0)
    frame = positive_control.build(
        write(folder, ablation=pd.concat([table, mine], ignore_index=True)), GRID
    ).frame
    assert list(frame.set_index("check")["ours"][[SPREAD, DEVIATION]]) == [15, 1.5]


def test_without_a_line_of_table_5_its_checks_are_not_run_or_absent(folder):
    lacking = ablation({PERMUTED: 26.0})  # such as its null in a later file
    frame = positive_control.build(write(folder, ablation=lacking), GRID).frame
    met = frame.set_index("check")["met"]
    assert met["full minus no pre-training, mean of all tasks"] == "not run"
    assert met["share of the gain that is left with permuted embeddings"] == "not run"
    assert SHARE not in met.index and "full minus LSTM, mean of all tasks" not in met.index
