"""The cells of one job: their runs, trained or taken from the cache, and the weights to keep."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from itertools import cycle
from pathlib import Path

from gpt1.cell import Cell
from gpt1.settings import FinetuneSettings
from gpt1.training.encoded import load as load_encoded
from gpt1.training.finetuning import FineTuning, RunRecord
from gpt1.training.run_cache import Key, RunCache
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from gpt1.weights.checkpoint import Checkpoint, load_checkpoint, versions, write_tensors
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_json


class CellJob:
    """What the cells of one job share: all but the layers that are transferred.

    `checkpoints` are of one language model, each from a pre-training seed of its own. The weights
    of the cells whose places are in `kept` go to the cache as well. Raises InputError if a file is
    damaged or missing, or if cells, files and settings do not match.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        encoded: Path,
        baselines: Path,
        checkpoints: Sequence[Path],
        settings: FinetuneSettings,
        runtime: Runtime,
        cache: RunCache,
        code: str = "",
        kept: Collection[str] = (),
    ):
        self.cells, self.settings, self.runtime = cells, settings, runtime
        self.cache, self.kept, self.cell = cache, kept, cells[0]
        self.encoded, self.baselines = load_encoded(encoded), read_json(baselines)
        self._check(encoded, baselines)
        tokenizer = self.encoded.tokenizer
        self.checkpoints = [
            load_checkpoint(path, self.cell.arch, settings.model, tokenizer) for path in checkpoints
        ]
        for path, checkpoint in zip(checkpoints, self.checkpoints, strict=True):
            if checkpoint.facts.corpus != self.cell.corpus:
                raise InputError(
                    f"{path}: pre-trained on {checkpoint.facts.corpus}, but {self.cell.place} "
                    f"starts from {self.cell.corpus}; give that checkpoint"
                )
        n_vocab = self.checkpoints[0].facts.n_vocab
        self.data = TaskData.of(self.encoded, n_vocab, settings)
        self.digests = {
            "config": sha256_json(settings.model_dump(mode="json")),
            "tokenizer": tokenizer,
            "data": self.encoded.labelled_digest,
            "code": code,
        }
        # Runs under different runtime settings or library versions are never mixed.
        self.environment = {"runtime": runtime.numeric(), "versions": versions()}

    def _check(self, encoded: Path, baselines: Path) -> None:
        """Raise InputError unless cells, files and settings are of one task and one group."""
        groups = {(c.arch, c.corpus, c.variant, c.aux, c.task) for c in self.cells}
        if len(groups) > 1:
            raise InputError(
                f"the cells are of {len(groups)} groups; give one arch, task, corpus, variant "
                "and aux"
            )
        found = {encoded: self.encoded.spec.name, baselines: self.baselines["task"]}
        for path, task in found.items():
            if task != self.cell.task:
                raise InputError(f"{path}: of {task}, not {self.cell.task}; give that one's")
        if (self.cell.aux == "off") != (self.settings.lm_coef == 0):
            raise InputError(
                f"{self.cell.place}: lm_coef is {self.settings.lm_coef:g}; "
                "give 0 with aux off, and more than 0 with aux on"
            )

    def starts(self, seeds: Sequence[int]) -> list[tuple[int, Checkpoint]]:
        """Each seed with the checkpoint that it starts from; these take turns, in their order."""
        return list(zip(seeds, cycle(self.checkpoints), strict=False))

    def key(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> Key:
        """Everything that decides the result of a run, and nothing else: no name, no path."""
        return {
            "arch": cell.arch,
            "task": cell.task,
            "n_transfer": cell.n_transfer,
            "seed": seed,
            "checkpoint": checkpoint.facts.sha256,
            **self.digests,
            **self.environment,
        }

    def unlabelled(self, cell: Cell) -> list[str]:
        """The unlabelled splits to predict: none, unless the cell is the paper's main model."""
        model = cell.arch, cell.aux, cell.corpus, cell.variant
        full = cell.n_transfer == self.settings.model.shape.n_layer
        is_main = model == ("transformer", "on", "books", "") and full
        return self.encoded.named("unlabelled") if is_main else []

    def run(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> RunRecord:
        """The record of one run, from the cache or from training.

        Predictions of unlabelled rows have a record of their own, so that a run is found whether or
        not they are asked for. If they or the weights are first asked for later, the run is trained
        again. Raises InputError if memory runs out.
        """
        key, unlabelled = self.key(cell, seed, checkpoint), self.unlabelled(cell)
        of_unlabelled = {**key, "unlabelled": self.encoded.unlabelled_digest}
        weights = self.cache.weights(key) if cell.place in self.kept else None
        record = self.cache.get(key)
        answers = self.cache.get(of_unlabelled) if unlabelled else {}
        if record is None or answers is None or (weights and not weights.exists()):
            rows = self.runtime.micro_batch or self.settings.batch
            with self.runtime.holding(rows, f"rows of {cell.place}"):
                settings, n_transfer = self.settings, cell.n_transfer
                run = FineTuning(self.data, checkpoint, settings, n_transfer, seed, self.runtime)
                record = asdict(run.train())
                if weights:
                    write_tensors(weights, dict(run.model.named_parameters()))
                self.cache.put(key, record)
                answers = {
                    name: run.predict_unlabelled(self.encoded.splits[name]) for name in unlabelled
                }
            if unlabelled:
                self.cache.put(of_unlabelled, answers)
        record["predictions"] |= answers
        return RunRecord(**record)
