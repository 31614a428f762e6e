"""The run at a glance and its alarms: worked out by hand from small tables."""

import pandas as pd

from tests.analysis.conftest import make_grid
from tests.support.tables import write_table
from workflow.analysis.page.glance import Glance, alarms
from workflow.analysis.page.run import Run

GRID = make_grid("rte")


def test_the_glance_is_worked_out_from_the_tables_alone(tmp_path):
    verdicts = ["reproduced", "undecided", "undecided", "not run"]
    ablation = {"arch": "transformer", "aux": ["on", "off", "on"], "corpus": "books"}
    ablation |= {"n_transfer": ["none", "none", "12"], "task": "avg_all"}
    ablation |= {"diff": [-39.9, -30.0, None], "diff_low": [-46.6, -35.0, None]}
    ablation |= {"diff_high": [-33.2, -25.0, None]}
    cells = {"arch": "lstm", "corpus": "books", "task": "rte", "aux": "on", "n_transfer": "none"}
    cells |= {"seed": [0, 0, 1, 2, None], "split": ["dev", "train", "dev", "dev", "dev"]}
    cells |= {"alarms": ["not_fitted", "not_fitted", None, "majority_rate;not_fitted", None]}
    frames = {
        "positive_control": pd.DataFrame({"check": "x", "met": ["yes", "no", "yes", None]}),
        "claims": pd.DataFrame({"verdict": verdicts}),
        **{"ablation": pd.DataFrame(ablation), "cells": pd.DataFrame(cells)},
    }
    for name, frame in frames.items():
        write_table(frame, tmp_path / f"{name}.csv")
    found = Glance.of(Run(tmp_path, GRID, tuple(frames), ()))
    assert found.checks == (2, 3) and found.runs == (3, 2)
    assert found.gain == "39.9 [33.2, 46.6]"
    counts = {"reproduced": 1, "undecided": 2, "not reproduced": 0, "not run": 1}
    assert found.verdicts == counts and [*found.verdicts] == [*counts]
    nothing = Glance.of(Run(tmp_path / "none", GRID, tuple(frames), ()))
    assert nothing == Glance(checks=None, verdicts=None, gain=None, runs=None)


def test_alarms_are_counted_by_kind_of_model_over_their_runs():
    place = {"corpus": "books", "task": "rte", "aux": "on", "n_transfer": "none"}
    rows = [
        {"arch": arch, **place, "seed": seed, "split": split, "alarms": raised}
        for arch, seed, raised in (
            *(("lstm", 0, "not_fitted"), ("lstm", 1, "majority_rate;not_fitted")),
            *(("lstm", 2, None), ("transformer", 0, None)),
        )
        for split in ("dev", "train")
    ]
    table = alarms(pd.DataFrame(rows))
    assert list(table.index) == ["lstm"]
    found = table.loc["lstm"][["runs", "layers", "not fitted", "majority rate"]]
    assert list(found) == ["3", "none", "2", "1"]


def test_kinds_of_models_with_alarms_stand_in_the_order_of_the_cells():
    place = {"corpus": "books", "task": "rte", "aux": "on", "split": "dev", "alarms": "not_fitted"}
    kinds = [("transformer", "12"), ("transformer", "0"), ("lstm", "1")]
    rows = [{"arch": a, "n_transfer": n, "seed": s, **place} for a, n in kinds for s in (0, 1)]
    table = alarms(pd.DataFrame(rows))
    assert list(zip(table.index, table["layers"], strict=True)) == kinds
