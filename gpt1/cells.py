"""Run a part of the sweep of one (arch, task, aux): its cells, each with its seeds.

    python -m gpt1.cells results/cells/transformer/cola/aux-on/layers-{none,12}.json ...

A cell trains in seconds where a process takes two to start, so one process loops over many. The
cells are named by the paths of their JSON files; how they are spread over jobs has no other trace.
Every finished run goes into the journal; a run that fails is told at the end, after all others.
"""

import argparse
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from gpt1.training.encoded import EncodedTask
from gpt1.training.encoded import load as load_encoded
from gpt1.training.finetune import FineTuning, TaskData
from gpt1.training.run_cache import Journal
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import load_checkpoint, versions
from tasks.common.errors import InputError, run
from tasks.common.files import json_argument, read_json, sha256_file, sha256_json, write_json

NOT_BY_SEED = ("copied", "constant", "truncated", "predictions", "hidden")
CELL = re.compile(
    r"cells/(?P<arch>transformer|lstm)/(?P<task>\w+)/aux-(?P<aux>on|off)/layers-(?P<layers>none|\d+)\.json$"
)


def parse_cell(path: str) -> dict[str, Any]:
    """The cell that a path names: arch, task, aux (bool), n_transfer (`none` is -1)."""
    match = CELL.search(str(path))
    if match is None:
        raise InputError(
            f"{path}: not the path of a cell; give .../ARCH/TASK/aux-{{on,off}}/layers-N.json"
        )
    layers = match["layers"]
    return {
        "arch": match["arch"],
        "task": match["task"],
        "aux": match["aux"] == "on",
        "n_transfer": -1 if layers == "none" else int(layers),
    }


def alarms(record: dict[str, Any], majority: dict[str, Any], split: str, metric: str) -> list[str]:
    """What a reader must not overlook in a run: the three ways of having learnt nothing.

    `majority_rate`: the main reported split is not above the best constant answer.
    `constant_prediction`: one answer for all rows of a reported split. `loss_not_falling`: the
    classification loss is no lower at the end.
    """
    found = []
    if record["scores"][split][metric] <= majority[split][metric]:
        found.append("majority_rate")
    if record["constant"]:
        found.append("constant_prediction")
    if not record["clf_loss_end"] < record["clf_loss_start"]:
        found.append("loss_not_falling")
    return found


class Part:
    """All that the cells of one job share: data, source weights, settings, digests."""

    def __init__(
        self,
        arch: str,
        task: str,
        aux: bool,
        encoded: str,
        baselines: str,
        checkpoint: str,
        settings: dict[str, Any],
        runtime: Runtime,
        journal: str,
        code: str = "",
        hidden: str | None = None,
    ):
        self.arch, self.aux = arch, aux
        self.settings, self.runtime = settings, runtime
        self.journal = Journal(journal)
        options, model = settings["finetune"], settings["model"]
        self.lm_coef = options["lm_coef"] if aux else 0.0
        encoding = load_encoded(encoded)
        self.task = encoding.kind
        if self.task.name != task:
            raise InputError(f"{encoded}: holds the task {self.task.name}, not {task}")
        self.source, meta = load_checkpoint(checkpoint, arch, model, encoding.tokenizer)
        self.n_vocab = meta["n_vocab"]
        self.baselines = read_json(baselines)
        if self.baselines["task"] != task:
            found = self.baselines["task"]
            raise InputError(f"{baselines}: baselines of {found}, not {task}; give the right file")
        self.main = next(name for name in encoding.splits if name not in ("train", "select"))
        self.data = TaskData.of(encoding, self.n_vocab, model["n_ctx"], options["eval_train"])
        self.digests = {
            "config": sha256_json(settings),
            "tokenizer": encoding.tokenizer,
            "data": sha256_file(encoded),
            "checkpoint": meta["sha256"],
            "code": code,
        }
        # A sweep that goes on under another runtime or library does not mix its runs.
        self.run_by = {"runtime": runtime.decides(), "versions": versions()}
        self.hidden = None if hidden is None else load_encoded(hidden)
        if self.hidden is not None:
            self._check_hidden(hidden, encoding)

    def _check_hidden(self, path: str, encoding: EncodedTask) -> None:
        for key in ("kind", "tokenizer"):
            found, wanted = getattr(self.hidden, key), getattr(encoding, key)
            if found != wanted:
                raise InputError(f"{path}: {key} is {found}, not {wanted}; make the file again")
        self.hidden_digest = sha256_file(path)

    def predicts_hidden(self, n_transfer: int) -> bool:
        """Whether a run predicts the rows without labels: the paper's own variant alone does."""
        return self.hidden is not None and n_transfer == self.settings["model"]["shape"]["n_layer"]

    def key(self, n_transfer: int, seed: int) -> dict[str, Any]:
        """Everything that decides a run's result."""
        cell = {"arch": self.arch, "task": self.task.name, "aux": self.aux}
        return {**cell, "n_transfer": n_transfer, "seed": seed, **self.digests, **self.run_by}

    def run(self, n_transfer: int, seed: int) -> dict[str, Any]:
        """One run's record, from the journal or from training.

        Answers on rows without labels have a record of their own, so that asking for none of them
        finds the run; asking for them later trains anew, since no run's weights are kept.
        """
        key, asked = self.key(n_transfer, seed), self.predicts_hidden(n_transfer)
        blind = {**key, "hidden": self.hidden_digest} if asked else {}
        record, answers = self.journal.get(key), self.journal.get(blind) if asked else {}
        if record is None or answers is None:
            training = self.training(n_transfer, seed)
            record = training.train()
            self.journal.put(key, record)
            if asked:
                splits = self.hidden.splits.items()
                answers = {"hidden": {k: training.predict_texts(v).tolist() for k, v in splits}}
                self.journal.put(blind, answers)
        return {**record, **answers}

    def training(self, n_transfer: int, seed: int) -> FineTuning:
        """A run at step 0."""
        return FineTuning(
            self.data,
            self.arch,
            self.n_vocab,
            self.settings,
            self.source,
            n_transfer,
            self.lm_coef,
            seed,
            self.runtime,
        )

    def cell(self, n_transfer: int, records: list[dict[str, Any]]) -> dict[str, Any]:
        """The JSON of a cell from the records of its seeds."""
        copied = records[0]["copied"]
        seeds = []
        for record in records:
            majority = self.baselines["majority"]
            told = alarms(record, majority, self.main, self.task.metric)
            kept = {k: v for k, v in record.items() if k not in NOT_BY_SEED}
            seeds.append({**kept, "alarms": told})
        return {
            "arch": self.arch,
            "task": self.task.name,
            "aux": self.aux,
            "n_transfer": "none" if n_transfer < 0 else n_transfer,
            "n_layer": self.settings["model"]["shape"]["n_layer"],
            "lm_coef": self.lm_coef,
            "family": self.task.family,
            "metric": self.task.metric,
            "copied": copied,
            "n_copied": len(copied),
            "truncated": records[0]["truncated"],
            "baselines": {k: self.baselines[k] for k in ("majority", "bag_of_words")},
            "seeds": seeds,
            "settings": self.settings,
            "digests": self.digests,
            **self.run_by,
            "device": self.runtime.device,
            "precision": self.runtime.precision,
        }

    def predictions(self, n_transfer: int, records: list[dict[str, Any]]) -> dict[str, Any]:
        """The answers behind a cell's scores, row by row in the order of the examples' file."""
        return {
            "arch": self.arch,
            "task": self.task.name,
            "aux": self.aux,
            "n_transfer": "none" if n_transfer < 0 else n_transfer,
            "data": self.digests["data"],
            **({"hidden_data": self.hidden_digest} if self.predicts_hidden(n_transfer) else {}),
            "seeds": [
                {
                    "seed": record["seed"],
                    "select": record["scores"]["select"][self.task.metric],
                    "predictions": record["predictions"],
                    **({"hidden": record["hidden"]} if "hidden" in record else {}),
                }
                for record in records
            ],
        }


def predictions_path(cell: str) -> Path:
    """Where the predictions of the cell at `cell` go: `predictions/` stands beside `cells/`."""
    path = Path(cell)
    return path.parents[3].with_name("predictions") / path.relative_to(path.parents[3])


def run_cells(paths: list[str], seeds: list[int], part: Part) -> list[str]:
    """Run and write every cell; returns a line for each run that failed."""
    failures = []
    for path in paths:
        n_transfer = parse_cell(path)["n_transfer"]
        if n_transfer > part.settings["model"]["shape"]["n_layer"]:
            raise InputError(f"{path}: the {part.arch} has fewer layers; ask for one that exists")
        records = []
        for seed in seeds:
            try:
                records.append(part.run(n_transfer, seed))
            except FloatingPointError as error:  # the training diverged
                failures.append(f"{path}, seed {seed}: {error}")
            except Exception as error:  # a fault of ours, told in full; the other cells go on
                traceback.print_exc()
                failures.append(f"{path}, seed {seed}: {type(error).__name__}: {error}")
        if len(records) < len(seeds):
            continue
        write_json(predictions_path(path), part.predictions(n_transfer, records))
        write_json(path, part.cell(n_transfer, records))
        shown = " ".join(f"{r['scores'][part.main][part.task.metric]:.1f}" for r in records)
        print(f"{path}: {part.main} {part.task.metric} {shown}", flush=True)
    return failures


def own_code() -> str:
    """Digest of this package and of `tasks`, for a call by hand, which is given no digest."""
    root = Path(__file__).parent.parent
    files = sorted(path for name in ("gpt1", "tasks") for path in (root / name).rglob("*.py"))
    return sha256_json([sha256_file(path) for path in files])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", help="paths of the cells, all of one arch, task, aux")
    parser.add_argument("--encoded", required=True)
    parser.add_argument("--hidden", help="encoded rows without labels, to be predicted as well")
    parser.add_argument("--baselines", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--settings", required=True, type=json_argument)
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default={}, type=json_argument)
    parser.add_argument("--code", help="digest of the code, part of the journal's key")
    parser.add_argument("--journal", required=True)
    a = parser.parse_args()
    named = [parse_cell(path) for path in a.cells]
    shared = {(c["arch"], c["task"], c["aux"]) for c in named}
    if len(shared) > 1:
        raise InputError(f"the cells are of {len(shared)} sweeps; give one arch, task and aux")
    arch, task, aux = shared.pop()
    runtime = Runtime(**a.runtime)
    runtime.start()
    files = (a.encoded, a.baselines, a.checkpoint)
    part = Part(
        arch, task, aux, *files, a.settings, runtime, a.journal, a.code or own_code(), a.hidden
    )
    failures = run_cells(a.cells, a.seeds, part)
    if failures:
        raise InputError(f"{len(failures)} runs failed, the others are kept: {'; '.join(failures)}")


if __name__ == "__main__":
    sys.exit(run(main))
