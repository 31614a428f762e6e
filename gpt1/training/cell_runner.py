"""Run the cells of one (arch, corpus, variant, task, aux): train or recall, write the results."""

import traceback
from collections.abc import Collection
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import Any

from gpt1.cell import Cell
from gpt1.settings import FinetuneSettings
from gpt1.training.encoded import load as load_encoded
from gpt1.training.finetune import FineTuning, RunRecord, TaskData
from gpt1.training.predictions import write_predictions
from gpt1.training.run_cache import Key, RunCache
from gpt1.training.runtime import Runtime
from gpt1.variant import Variant
from gpt1.weights.checkpoint import Checkpoint, load_checkpoint, versions, write_tensors
from tasks.common.errors import MORE_MEMORY, InputError, within_memory
from tasks.common.files import read_json, sha256_json, write_json

OF_THE_CELL = ("copied", "constant", "truncated", "predictions")  # not repeated for each seed


def alarms(record: RunRecord, majority: float, split: str, metric: str) -> list[str]:
    """Names of the signs that a run has learnt nothing; empty if there are none.

    `majority_rate`: the score of the main reported split is not above `majority`, the best constant
    answer's. `constant_prediction`: one prediction for all rows of a reported split.
    `loss_not_falling`: the classification loss is no lower at the end. `not_fitted`: at the
    end it is not below chance, the entropy of the training labels.
    """
    names = []
    if record.scores[split][metric] <= majority:
        names.append("majority_rate")
    if record.constant:
        names.append("constant_prediction")
    if not record.clf_loss_end < record.clf_loss_start:
        names.append("loss_not_falling")
    if not record.clf_loss_end < record.label_entropy:
        names.append("not_fitted")
    return names


class CellRunner:
    """Runs cells that share architecture, corpus, variant, task and aux, and what these decide.

    `cell` is any of them; `checkpoints` are of one model, each from a pre-training seed of its own.
    The weights of the cells whose places are in `kept` go to the cache as well.
    Raises InputError if a file is damaged or does not fit the cell.
    """

    def __init__(
        self,
        cell: Cell,
        encoded: Path,
        baselines: Path,
        checkpoints: list[Path],
        settings: FinetuneSettings,
        runtime: Runtime,
        cache: RunCache,
        code: str = "",
        kept: Collection[str] = (),
    ):
        self.settings, self.runtime, self.cache, self.kept = settings, runtime, cache, kept
        self.encoded, self.baselines = load_encoded(encoded), read_json(baselines)
        for path, task in ((encoded, self.encoded.spec.name), (baselines, self.baselines["task"])):
            if task != cell.task:
                raise InputError(f"{path}: of task {task}, not {cell.task}; give the right file")
        tokenizer = self.encoded.tokenizer
        self.checkpoints = [
            load_checkpoint(path, cell.arch, settings.model, tokenizer) for path in checkpoints
        ]
        for path, checkpoint in zip(checkpoints, self.checkpoints, strict=True):
            if checkpoint.facts.corpus != cell.corpus:
                raise InputError(
                    f"{path}: pre-trained on {checkpoint.facts.corpus}, but {cell.place} starts "
                    f"from {cell.corpus}; give that checkpoint"
                )
        self.data = TaskData.of(self.encoded, self.checkpoints[0].facts.n_vocab, settings)
        self.digests = {
            "config": sha256_json(settings.model_dump(mode="json")),
            "tokenizer": tokenizer,
            "data": self.encoded.labelled_digest,
            "code": code,
        }
        # Runs under another runtime or library are never mixed.
        self.environment = {"runtime": runtime.numeric(), "versions": versions()}

    def check(self, cell: Cell) -> None:
        """Raise InputError for a cell that does not exist or does not fit the settings."""
        if cell.n_transfer != "none" and cell.n_transfer > self.settings.model.shape.n_layer:
            raise InputError(f"{cell.place}: the {cell.arch} has fewer layers; ask for fewer")
        self._check_variant(cell)
        if cell.aux == "off" and self.settings.lm_coef:
            raise InputError(
                f"{cell.place}: lm_coef is {self.settings.lm_coef}; give 0 for a cell with aux off"
            )

    def _check_variant(self, cell: Cell) -> None:
        """Raise InputError where the settings are not those that the variant's name states."""
        variant, settings = Variant.named(cell.variant), self.settings
        own = {**{key: settings for key in ("lm_coef", "lr", "epochs")}, "l2": settings.optimizer}
        stated = {key: getattr(variant, key) for key in own}
        given = {key: getattr(own[key], key) for key in own if stated[key] is not None}
        if variant.prompted:
            raise InputError(f"{cell.place}: nothing is trained; give the path to gpt1.prompted")
        if variant.method != settings.method or any(stated[k] != v for k, v in given.items()):
            raise InputError(f"{cell.place}: the settings are not those of its variant; give them")
        for checkpoint in self.checkpoints:
            if variant.update not in (None, checkpoint.facts.update):
                raise InputError(
                    f"{cell.place}: the checkpoint is of update {checkpoint.facts.update}; give "
                    f"that of update {variant.update}"
                )
        n_layer, method = settings.model.shape.n_layer, settings.method
        for layer in (method.left_out, method.read_layer):
            if isinstance(layer, int) and layer > n_layer:
                raise InputError(f"{cell.place}: layer {layer} of {n_layer}; give a lower one")
        if cell.arch == "lstm" and method.read_layer != "top":
            raise InputError(f"{cell.place}: read_layer is of the transformer; give top")
        if method.frozen and settings.lm_coef:
            raise InputError(f"{cell.place}: a frozen model has no LM loss; give aux off")

    def unlabelled(self, cell: Cell) -> list[str]:
        """The unlabelled splits that are predicted: by the paper's main model only."""
        model = cell.arch, cell.aux, cell.corpus, cell.variant
        main_model = model == ("transformer", "on", "books", "")
        full = cell.n_transfer == self.settings.model.shape.n_layer
        return self.encoded.named("unlabelled") if main_model and full else []

    def key(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> Key:
        """Everything that decides a run's result."""
        digests = {**self.digests, "checkpoint": checkpoint.facts.sha256}
        return {**cell.facts(), "seed": seed, **digests, **self.environment}

    def run(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> RunRecord:
        """One run's record, from the cache or from training.

        Predictions of unlabelled rows have a record of their own, so that a run is found whether or
        not they are asked for. Asking for them or for weights later trains again. Raises InputError
        if the memory does not suffice.
        """
        rows = self.runtime.micro_batch or self.settings.batch
        fewer = f"give runtime.micro_batch: {rows // 2}, " if rows > 1 else ""
        with within_memory(f"{cell.place}: fine-tuning {rows} rows at once", fewer + MORE_MEMORY):
            return self._run(cell, seed, checkpoint)

    def _run(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> RunRecord:
        key, unlabelled = self.key(cell, seed, checkpoint), self.unlabelled(cell)
        answers_key = {**key, "unlabelled": self.encoded.unlabelled_digest}
        weights = self.cache.weights(key) if cell.place in self.kept else None
        record = self.cache.get(key)
        answers = self.cache.get(answers_key) if unlabelled else {}
        if record is None or answers is None or (weights and not weights.exists()):
            settings, n_transfer = self.settings, cell.n_transfer
            run = FineTuning(self.data, checkpoint, settings, n_transfer, seed, self.runtime)
            record = asdict(run.train())
            if weights:
                write_tensors(weights, dict(run.model.named_parameters()))
            self.cache.put(key, record)
            splits = self.encoded.splits
            answers = {name: run.predict_unlabelled(splits[name]).tolist() for name in unlabelled}
            if unlabelled:
                self.cache.put(answers_key, answers)
        return RunRecord(**{**record, "predictions": {**record["predictions"], **answers}})

    def cell_json(self, cell: Cell, records: list[RunRecord], predictions: str) -> dict[str, Any]:
        """The JSON of a cell from the records of its seeds and the digest of its predictions."""
        spec, split = self.data.spec, self.encoded.main
        majority = self.baselines["majority"][split][spec.metric]
        return {
            **cell.facts(),
            "lm_coef": self.settings.lm_coef,
            "family": spec.family,
            "metric": spec.metric,
            "copied": records[0].copied,
            "n_copied": len(records[0].copied),
            "truncated": records[0].truncated,
            "baselines": {k: self.baselines[k] for k in ("majority", "bag_of_words")},
            "seeds": [
                {
                    **{k: v for k, v in asdict(record).items() if k not in OF_THE_CELL},
                    "alarms": alarms(record, majority, split, spec.metric),
                    "pretrain_seed": checkpoint.facts.seed,
                    "checkpoint": checkpoint.facts.sha256,
                }
                for record, checkpoint in zip(records, cycle(self.checkpoints), strict=False)
            ],
            "settings": self.settings.model_dump(mode="json"),
            "digests": {**self.digests, "predictions": predictions},
            **self.environment,
        }

    def write(self, path: Path, cell: Cell, records: list[RunRecord]) -> None:
        """Write the cell's JSON to `path` and its predictions beside it, and print its scores."""
        answers = cell.predictions(path.parents[4])
        digest = write_predictions(answers, cell, self.encoded, records)
        write_json(path, self.cell_json(cell, records, digest))
        split, metric = self.encoded.main, self.data.spec.metric
        shown = " ".join(f"{record.scores[split][metric]:.1f}" for record in records)
        print(f"{path}: {split} {metric} {shown}", flush=True)


def run_cells(paths: list[Path], seeds: list[int], runner: CellRunner) -> list[str]:
    """Run every cell and write its JSON and predictions; returns a line for each failed run.

    The i-th seed starts from the runner's i-th checkpoint, modulo their number. A failed run costs
    only its own cell. Raises InputError for a cell that does not exist, before any training, and,
    like OSError, for a file that cannot be read or written.
    """
    failures = []
    for path in paths:
        runner.check(Cell.parse(path))
    for path in paths:
        cell, records = Cell.parse(path), []
        for seed, checkpoint in zip(seeds, cycle(runner.checkpoints), strict=False):
            try:
                records.append(runner.run(cell, seed, checkpoint))
            except (InputError, OSError):  # a full disk or memory, a damaged file stop all
                raise
            except FloatingPointError as error:  # the training diverged
                fault = f"{path}, seed {seed}: {error}"
                failures.append(f"{fault}; lower experiment.finetune.lr")
            except Exception as error:  # a bug: reported in full, but the other cells still run
                traceback.print_exc()
                failures.append(f"{path}, seed {seed}: {type(error).__name__}: {error}")
        if len(records) < len(seeds):
            continue
        runner.write(path, cell, records)
    return failures
