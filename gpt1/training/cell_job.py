"""The cells of one job: their runs, trained or taken from the cache, and the weights to keep."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import Any

from gpt1.cell import Cell
from gpt1.prompts import answer
from gpt1.settings import FinetuneSettings
from gpt1.training.encoded import load as load_encoded
from gpt1.training.finetuning import Answers, FineTuning, RunRecord
from gpt1.training.run_cache import Key, RunCache
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from gpt1.weights.checkpoint import Checkpoint, load_checkpoint, versions, write_tensors
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_json

Records = Mapping[str, Answers]  # by task


class CellJob:
    """What the cells of one job share: architecture, corpus, variant and aux, inputs and settings.

    Cells with the same `n_transfer` share a model, which has a head for each task of `settings`.
    `checkpoints` are of one language model, each from a pre-training seed of its own. The weights
    of the cells whose places are in `kept` go to the cache as well. Raises InputError if a file is
    damaged or missing, or if cells, files and settings do not match.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        encoded: Sequence[Path],
        baselines: Sequence[Path],
        checkpoints: Sequence[Path],
        settings: dict[str, FinetuneSettings],
        runtime: Runtime,
        cache: RunCache,
        code: str = "",
        kept: Collection[str] = (),
        tokenizer: Path | None = None,
    ):
        self.cells, self.settings, self.runtime = cells, settings, runtime
        self.cache, self.code, self.kept = cache, code, kept
        self.cell, self.own = cells[0], next(iter(settings.values()))
        read = [load_encoded(path) for path in encoded]
        self.encoded = {one.spec.name: one for one in read}
        self.baselines = {one["task"]: one for one in map(read_json, baselines)}
        self._check()
        digest = read[0].tokenizer
        self.checkpoints = [
            load_checkpoint(path, self.cell.arch, self.own.model, digest) for path in checkpoints
        ]
        for path, checkpoint in zip(checkpoints, self.checkpoints, strict=True):
            if checkpoint.facts.corpus != self.cell.corpus:
                raise InputError(
                    f"{path}: pre-trained on {checkpoint.facts.corpus}, but {self.cell.place} "
                    f"starts from {self.cell.corpus}; give that checkpoint"
                )
        self.tokenizer = tokenizer
        n_vocab = self.checkpoints[0].facts.n_vocab
        self.data = {
            task: TaskData.of(self.encoded[task], n_vocab, own) for task, own in settings.items()
        }
        self.digests = {
            task: {
                "config": sha256_json(own.model_dump(mode="json")),
                "tokenizer": digest,
                "data": self.encoded[task].labelled_digest,
                "code": code,
            }
            for task, own in settings.items()
        }
        # Runs under different runtime settings or library versions are never mixed.
        self.environment = {"runtime": runtime.numeric(), "versions": versions()}

    def _check(self) -> None:
        """Raise InputError unless cells, files and settings are of the same tasks and one group."""
        groups = {(cell.arch, cell.corpus, cell.variant, cell.aux) for cell in self.cells}
        if len(groups) > 1:
            raise InputError(
                f"the cells are of {len(groups)} groups; give one arch, corpus, variant and aux"
            )
        for cells in self.models().values():
            if sorted(cell.task for cell in cells) != sorted(self.settings):
                tasks = ", ".join(self.settings)
                given = ", ".join(cell.task for cell in cells)
                raise InputError(f"--settings: of {tasks}; give one cell of each, not of {given}")
        for kind, found in (("encoded", self.encoded), ("baselines", self.baselines)):
            if found.keys() != self.settings.keys():
                names, needed = ", ".join(found), ", ".join(self.settings)
                raise InputError(f"--{kind}: of {names}, not {needed}; give one file for each")
        for own in self.settings.values():
            if (self.cell.aux == "off") != (own.lm_coef == 0):
                raise InputError(
                    f"{self.cell.place}: lm_coef is {own.lm_coef:g}; "
                    "give 0 with aux off, and more than 0 with aux on"
                )

    def models(self) -> dict[Any, list[Cell]]:
        """The cells by the number of layers that are transferred; those of a list share a model."""
        by_layers: dict[Any, list[Cell]] = {}
        for cell in self.cells:
            by_layers.setdefault(cell.n_transfer, []).append(cell)
        return by_layers

    def starts(self, seeds: Sequence[int]) -> list[tuple[int, Checkpoint]]:
        """Each seed with the checkpoint that it starts from; these take turns, in their order."""
        return list(zip(seeds, cycle(self.checkpoints), strict=False))

    def key(self, cells: Sequence[Cell], seed: int, checkpoint: Checkpoint) -> Key:
        """Everything that decides the result of a run, and nothing else: no name, no path."""
        return {
            "arch": cells[0].arch,
            "n_transfer": cells[0].n_transfer,
            "seed": seed,
            "checkpoint": checkpoint.facts.sha256,
            "tasks": {cell.task: self.digests[cell.task] for cell in cells},
            **self.environment,
        }

    def unlabelled(self, cell: Cell) -> list[str]:
        """The unlabelled splits to predict: none, unless the cell is the paper's main model."""
        model = cell.arch, cell.aux, cell.corpus, cell.variant
        full = cell.n_transfer == self.own.model.shape.n_layer
        is_main = model == ("transformer", "on", "books", "") and full
        return self.encoded[cell.task].named("unlabelled") if is_main else []

    def run(self, cells: Sequence[Cell], seed: int, checkpoint: Checkpoint) -> Records:
        """The records of one run, from the cache or from training.

        Predictions of unlabelled rows have a record of their own, so that a run is found whether or
        not they are asked for. If they or the weights are first asked for later, the run is trained
        again. Raises InputError if memory runs out.
        """
        if self.own.method.prompted:
            return {cell.task: self._answer(cell.task, seed, checkpoint) for cell in cells}
        key = self.key(cells, seed, checkpoint)
        unlabelled = {cell.task: found for cell in cells if (found := self.unlabelled(cell))}
        digests = {task: self.encoded[task].unlabelled_digest for task in unlabelled}
        weights = {c.task: self.cache.weights(key, c.task) for c in cells if c.place in self.kept}
        records = self.cache.get(key)
        answers = self.cache.get({**key, "unlabelled": digests}) if unlabelled else {}
        if records is None or answers is None or not all(p.exists() for p in weights.values()):
            rows = self.runtime.micro_batch or self.own.batch
            with self.runtime.holding(rows, f"rows of {cells[0].place}"):
                settings, n_transfer = self.settings, cells[0].n_transfer
                run = FineTuning(self.data, checkpoint, settings, n_transfer, seed, self.runtime)
                records = {task: asdict(record) for task, record in run.train().items()}
                for task, path in weights.items():
                    write_tensors(path, dict(run.heads[task].model.named_parameters()))
                self.cache.put(key, records)
                answers = {
                    task: {
                        name: run.heads[task].predict_unlabelled(self.encoded[task].splits[name])
                        for name in names
                    }
                    for task, names in unlabelled.items()
                }
            if unlabelled:
                self.cache.put({**key, "unlabelled": digests}, answers)
        for task, found in answers.items():
            records[task]["predictions"] |= found
        return {task: RunRecord(**record) for task, record in records.items()}

    def _answer(self, task: str, seed: int, checkpoint: Checkpoint) -> Answers:
        """What the language model, without fine-tuning, answers when the task is put in words."""
        from gpt1.text.tokenizer import Tokenizer  # slow to import, and no other run needs it

        if self.tokenizer is None:
            raise InputError("--tokenizer: missing; give it, to encode the prompts")
        tokenizer = Tokenizer.load(self.tokenizer)
        if tokenizer.digest != self.encoded[task].tokenizer:
            raise InputError(
                f"{self.tokenizer}: not the tokenizer that encoded {task}; give that one"
            )
        words = (tokenizer.encode, tokenizer.newline_id)
        return answer(seed, checkpoint, self.encoded[task], *words, self.runtime)
