"""GPT-1 as a library: load a trained model, read the tables of a run, compare two runs.

docs/own-data.md and docs/compare.md show how. A function imports what it needs when it is called,
so `import gpt1` takes no time.
"""

import contextlib
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from gpt1.generate import TextModel
    from gpt1.predict import Predictor
    from workflow.analysis.compare import Comparison
    from workflow.analysis.ranking import Ranking
    from workflow.analysis.sides import Source

__version__ = "0.3.0"  # pyproject.toml reads it here


def _check_not_hidden(package: str) -> None:
    """Raise ImportError if another file of that name, such as Invoke's tasks.py, comes first."""
    found, own = find_spec(package), Path(__file__).resolve().parents[1] / package
    file = Path(found.origin) if found and found.origin else Path(package)
    if file.resolve().parent != own:
        fault = (
            f"{file} hides the package {package} of gpt1-suite; rename it, or start Python with -P "
            "(or PYTHONSAFEPATH=1), which looks neither beside the script nor where you are"
        )
        if sys.argv[:1] == ["-m"]:
            sys.exit(f"error: {fault}")
        raise ImportError(fault)


_check_not_hidden("tasks")
_check_not_hidden("workflow")
if sys.argv[:1] == ["-m"]:
    from tasks.common.programs import show_door

    show_door("gpt1")


def load(
    path: str | Path,
    device: str = "cpu",
    tokenizer: str | Path | None = None,
    seed: int | None = None,
) -> "TextModel | Predictor":
    """The language model of a checkpoint, or the fine-tuned model of a kept cell.

    `path` is a file `update-N.safetensors`, which gives a `gpt1.generate.TextModel`, or the folder
    of a kept cell, which gives a `gpt1.predict.Predictor` of `seed`, by default the first one kept.
    Architecture, settings and tokenizer come from the files of the same run; `tokenizer` is needed
    only for a checkpoint whose tokenizer is in another folder, as that of imported weights may be.
    Raises InputError for a file that is missing, damaged or of another tokenizer, and for a seed or
    a device that does not exist.
    """
    from gpt1.generate import TextModel
    from gpt1.predict import Predictor
    from gpt1.training import cell_files
    from tasks.common.errors import InputError

    is_cell, facts = Path(path).is_dir(), Path(path).with_suffix(".json")
    is_checkpoint = Path(path).suffix == ".safetensors" and Path(path).is_file() and facts.is_file()
    if not ((Path(path) / cell_files.CELL).is_file() if is_cell else is_checkpoint):
        raise InputError(
            f"{path}: no trained model; give results/pretrain/ARCH/seed-K/update-N.safetensors, or "
            "the folder of a cell of experiment.keep, below results/kept"
        )
    if is_cell and tokenizer is not None:
        raise InputError(f"tokenizer: found {tokenizer}, but {path} has its own; leave it out")
    if not is_cell and seed is not None:
        raise InputError(f"seed: found {seed}, but {path} is of one seed alone; leave it out")
    return Predictor(path, seed, device) if is_cell else TextModel(path, tokenizer, device)


def compare(
    a: "Source", b: "Source", *more: "Source", metric: str = "accuracy"
) -> "Comparison | Ranking":
    """`b` minus `a`: each score that both have, paired by row and by seed, with its 95 % interval.

    With `more`, all are compared in pairs, and `ranks` has the ranks that each may have. Each is
    the folder of a run, a folder of one model's logs by lm-evaluation-harness or in the format
    Every Eval Ever (or a list of such folders, one per seed), or a data frame. A data frame has the
    columns `row`, and either `prediction` and `label` or a `score` from 0 to 1, and optionally
    `seed`, `task`, `line` and `metric` (in place of the argument: accuracy, f1, matthews, pearson
    or spearman); `frame.attrs["name"]` is its name. The result has a `frame`, `markdown`,
    `figure()` and `write(path)`. Raises InputError if there is nothing to compare.
    """
    from workflow.analysis import compare, ranking

    return ranking.rank([a, b, *more], metric) if more else compare.compare(a, b, metric)


def results(folder: str | Path) -> dict[str, "pd.DataFrame"]:
    """The tables of a run by name: `cells`, `claims`, ..., `studies/NAME` (see results/README.md).

    A run of single cells has only `cells`, which is made from the cells themselves. Cells and
    studies that the config kept in the folder does not have are left out, with a warning.

    Scores run from 0 to 100. Numbers are read as numbers; `n_transfer` is text, since it may be
    "none", and the columns `by_seed` hold tuples of numbers. Parquet beside the tables, as of the
    pool in `bench/false_keeps`, is read as it is. Raises InputError for a folder without tables and
    for a damaged one.
    """
    import pandas as pd

    from tasks.common.errors import InputError

    # Only here and in `compare` does gpt1 import from workflow, where tables are made.
    from workflow import studies
    from workflow.analysis.table import read_csv
    from workflow.analysis.tables.cells import of_cells
    from workflow.configuration.read import ConfigError, parse, read
    from workflow.plan import Plan
    from workflow.results_folder import CONFIG

    folder = Path(folder)
    paths = [*sorted(folder.glob("*.csv")), *sorted(folder.glob("studies/*.csv"))]
    cells = [] if folder / "cells.csv" in paths else sorted(folder.glob("cells/*/*.json"))
    with contextlib.suppress(ConfigError):  # not kept yet, or of another version
        config = parse(read([folder / CONFIG]))
        plan = Plan(config)
        own = {cell.path(folder) for cell in studies.cells(plan)}
        own |= {folder / "studies" / f"{name}.csv" for name in config.experiment.studies}
        others = [path for path in (*cells, *paths) if path.parent != folder and path not in own]
        if others:
            what = f"{len(others)} files of another config than {folder / CONFIG} are left out"
            warnings.warn(f"{what}, such as {others[0]}", stacklevel=2)
        cells, paths = ([path for path in of if path not in others] for of in (cells, paths))
    found = {path.relative_to(folder).with_suffix("").as_posix(): read_csv(path) for path in paths}
    found |= {path.stem: pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    if cells:
        found["cells"] = of_cells(folder, cells)
    if not found:
        raise InputError(f"{folder}: no tables and no cells in it; give the folder of a run")
    return found
