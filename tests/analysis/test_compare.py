"""Two runs compared: worked out by hand from small tables."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from tasks.common.errors import InputError
from tests.analysis.conftest import write
from tests.support.tables import write_table
from workflow.compare import main

CELL = {"arch": "lstm", "task": "rte", "aux": "on", "n_transfer": "1", "corpus": "books"}
CLAIM = {"tasks": "RTE", "contrast": "full", "ours": 1.0, "ci_low": 0.5, "ci_high": 1.5}


def finish(results: Path, scores: list[float], verdicts: list[str], seeds: int, cpu: str) -> Path:
    """A finished run of one cell; the first score is of the `select` split."""
    splits = ["select", *["dev"] * (len(scores) - 1)]
    cells = CELL | {"split": splits, "metric": "accuracy", "score": scores}
    claims = CLAIM | {"statement": [f"claim {i}" for i in range(len(verdicts))]}
    write(results / "cells/lstm/rte/aux-on/layers-1.json", {"seeds": [{"cpu": cpu}]})
    write_table(pd.DataFrame(cells), results / "cells.csv")
    write_table(pd.DataFrame(claims | {"verdict": verdicts}), results / "claims.csv")
    ablation = {"variant": ["full", "LSTM"], "task": "avg_all", "mean": [scores[1], None]}
    write_table(pd.DataFrame(ablation), results / "ablation.csv")
    config = f"results: {results}\nexperiment: {{seeds: {{finetune: {seeds}}}, world: null}}\n"
    (results / "config.yaml").write_text(config)
    return results


def printed(
    a: Path, b: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> tuple[str, list[list[str]]]:
    """What is printed: its paragraphs, and the lines of its tables."""
    monkeypatch.setattr(sys, "argv", ["compare", str(a), str(b)])
    main()
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    return "\n".join(line for line in lines if "|" not in line), rows


def test_scores_verdicts_config_and_processor_are_compared(tmp_path, monkeypatch, capsys):
    verdicts = ["holds", "holds", "undecided", "equal", "equal", "not run"]
    other = ["holds", "does not hold", "holds", "equal", "holds"]
    a = finish(tmp_path / "a", [10.0, 50.0, 52.0], verdicts, 2, "X, AVX512")
    b = finish(tmp_path / "b", [90.0, 52.5, 54.5], other, 3, "X, AVX2")
    text, rows = printed(a, b, monkeypatch, capsys)
    assert "Same verdicts among decided: 2 of 4 (50%); contradicting: 1." in text
    assert [row[0] for row in rows if row[1] == "RTE"] == ["claim 1", "claim 2", "claim 4"]
    assert [
        "claim 1",
        "RTE",
        "full",
        *[f"{v}: 1.0 [0.5, 1.5]" for v in verdicts[1:2] + other[1:2]],
    ] in rows
    assert ["lstm/rte/aux-on/layers-1", "dev", "accuracy", "51.0", "53.5", "+2.5"] in rows
    assert ["full", "50.0", "52.5", "+2.5"] in rows
    assert ["experiment.seeds.finetune", "2", "3"] in rows
    assert ["processor", "X, AVX512", "X, AVX2"] in rows


def test_equal_runs_differ_in_nothing(tmp_path, monkeypatch, capsys):
    a, b = (finish(tmp_path / name, [1.0, 2.0], ["undecided"], 2, "X") for name in "ab")
    text, rows = printed(a, b, monkeypatch, capsys)
    assert "among decided: 0 of 0; contradicting: 0." in text
    assert [row[0] for row in rows[2:]] == ["full"]


def test_what_is_no_finished_run_is_one_line(tmp_path, monkeypatch, capsys):
    a = finish(tmp_path / "a", [1.0, 2.0], ["holds"], 2, "X")
    broken = finish(tmp_path / "broken", [1.0, 2.0], ["holds"], 2, "X")
    (broken / "config.yaml").write_text("- none\n")
    for b in (tmp_path, broken):
        with pytest.raises(InputError, match="config.yaml"):
            printed(a, b, monkeypatch, capsys)
