"""Zero-shot scores beside a study along the checkpoints, in its table and its figure."""

from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.cell import PretrainedModel
from tests.analysis.conftest import (
    write,
)
from tests.analysis.studies.test_study_tables import drawn, like, made, mean_of, named, study
from tests.facts import SCORED


def write_zero_shot(results: Path, task: str, scores: dict[int, float], seed: int = 0) -> None:
    """The zero-shot scores of a language model, by update."""
    place = {"arch": "transformer", "task": task, "metric": "accuracy", "split": "dev"}
    place |= {**SCORED, "tokens": 0}
    for update, score in scores.items():
        path = PretrainedModel("transformer", seed).zero_shot(results, task, update)
        write(path, {**place, "seed": seed, "update": update, "score": score})


def test_zero_shot_scores_stand_beside_those_of_their_checkpoints(tmp_path):
    plan = study("checkpoint", values=("0", "30", "300", "3000"), tasks=["sst2", "qnli", "rte"])
    for seed in (0, 1):
        write_zero_shot(tmp_path, "sst2", {0: 50, 30: 55, 300: 60 + seed, 3000: 70}, seed)
    found = made(tmp_path, plan)
    assert mean_of(found.frame, "full", "300", "sst2")["zero_shot"] == 60.5
    assert pd.isna(mean_of(found.frame, "full", "300", "rte")["zero_shot"])
    assert pd.isna(mean_of(found.frame, "full", "300")["zero_shot"])  # that of three tasks
    section = found.markdown.partition("## The same checkpoints, zero-shot")[2]
    assert "SST-2" in section and "QNLI" not in section
    lines = [line for line in section.partition("##")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["", "SST-2"]
    assert cells[2:] == [
        *(["checkpoint 0", "50.0"], ["checkpoint 30", "55.0"], ["checkpoint 300", "60.5"]),
        ["checkpoint 3000", "70.0"],
    ]


def test_no_zero_shot_score_stands_beside_another_language_model(tmp_path):
    plan = study("checkpoint", lines=("own", "other"), values=("0", "30"), tasks=["sst2"])
    own, other = plan.points[:2], plan.points[2:]
    line = other[0].of.model_copy(update={"model": "pretrain.updates-9"})
    other = [point.model_copy(update={"of": line}) for point in other]
    plan = plan.model_copy(update={"points": [*own, *other]})
    write_zero_shot(tmp_path, "sst2", {0: 50, 30: 55})
    frame = made(tmp_path, plan).frame
    assert mean_of(frame, "own", "30", "sst2")["zero_shot"] == 55
    assert pd.isna(mean_of(frame, "other", "30", "sst2")["zero_shot"])


def test_the_figure_has_the_zero_shot_scores_of_the_checkpoints(tmp_path):
    for task, scores in {"sst2": (50, 55, 60), "rte": (1, 2, 9)}.items():
        for seed in (0, 1):
            of_seed = {u: s + seed for u, s in zip((0, 30, 300), scores, strict=True)}
            write_zero_shot(tmp_path, task, of_seed, seed)
    plan = study("checkpoint", values=("0", "30", "300"), tasks=["sst2", "rte"])
    picture, _ = drawn(plan, tmp_path)
    (look,) = (line for name, line in named(picture).items() if "zero-shot" in name)
    expected = [[26, 29, 35], [50.5, 55.5, 60.5], [1.5, 2.5, 9.5]]
    assert picture.get_supxlabel() == "updates of pre-training"
    for ax, scores in zip(picture.axes, expected, strict=True):
        (curve,) = like(ax, look)
        assert list(curve.get_xdata()) == [0, 1, 2]
        np.testing.assert_allclose(curve.get_ydata(), scores)
