"""The cells of one job, and the cache of finished runs, from which interrupted jobs resume."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpt1.cell import FULL, VECTORS, Cell
from gpt1.data.encoded import load as load_encoded
from gpt1.data.task_data import TaskData
from gpt1.records import CheckpointFacts, RunRecord
from gpt1.settings import CellSettings
from gpt1.training.finetuning import FineTuning, listed
from gpt1.training.runtime import Runtime
from gpt1.training.training_log import event_writer
from gpt1.weights.checkpoint import (
    Checkpoint,
    load_checkpoint,
    load_vectors,
    read_tensors,
    versions,
    write_tensors,
)
from tasks.common.errors import InputError
from tasks.common.files import sha256_json, sweep
from tasks.common.records import BaselinesRecord

# The standard deviation of word vectors, as a multiple of the initial weights'. With 1, the layers
# learn where tokens stand before what they are (bench/LOG.md).
VECTORS_STD = 2.0

Key = dict[str, Any]


class RunCache:
    """A folder of finished runs, outside the declared outputs, which Snakemake deletes on failure.

    A run's record is stored under the hash of its key, which has everything that determines its
    result, so a stale record is never found. It contains its key, so a renamed one is not used.
    Leftovers of killed writes are removed, whatever their keys.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        sweep(self.folder)

    def path(self, key: Key) -> Path:
        """The path of the record of `key`, whether it exists or not."""
        return self.folder / f"{sha256_json(key)}.json"

    def weights(self, key: Key) -> Path:
        """The path of the weights of the run of `key`, if they are kept."""
        return self.path(key).with_suffix(".safetensors")

    def get(self, key: Key, with_weights: bool = False) -> RunRecord | None:
        """The record of `key`, or None if it is not there; `with_weights`, if these are not.

        What is damaged or another run's is not used, with a warning.
        """
        path, weights = self.path(key), self.weights(key)
        if not path.exists() or (with_weights and not weights.exists()):
            return None
        try:
            record = RunRecord.read(path)
            if sha256_json(record.key) != path.stem:
                raise InputError(f"{path}: of another run, its key is not that of its name")
            if with_weights:
                read_tensors(weights, of=weights.stem)
        except InputError as error:  # the run can be repeated
            print(f"warning: {error}; training again", flush=True)
            return None
        return record

    def put(self, record: RunRecord) -> None:
        """Write a record atomically."""
        record.write(self.path(record.key))


class CellJob:
    """The cells of one job, with what they share: the task, and the language model they start from.

    `cells` maps each cell to its settings. `checkpoints` are of one language model, each with its
    own pre-training seed; there are none if nothing is transferred. Runs that start without a
    checkpoint are still paired with the pre-training seeds `pretrain`. `vectors` are files of word
    vectors, one for each width among the cells that start from word vectors. With `keeps_weights`,
    the cache holds the weights of every run. Raises InputError if a file is damaged or missing, or
    if cells, files and settings do not match.
    """

    def __init__(
        self,
        cells: Mapping[Cell, CellSettings],
        encoded: Path,
        baselines: Path,
        checkpoints: Sequence[Path],
        runtime: Runtime,
        cache: RunCache,
        code: str = "",
        pretrain: Sequence[int] = (0,),
        vectors: Sequence[Path] = (),
        keeps_weights: bool = False,
    ):
        self.cells, self.runtime, self.cache = cells, runtime, cache
        self.keeps_weights = keeps_weights
        self.encoded, self.baselines = load_encoded(encoded), BaselinesRecord.read(baselines)
        self._check(encoded, baselines)
        self.pretrain, self.found = pretrain, 0  # runs that were in the cache
        self.checkpoints = self._loaded(checkpoints)
        loaded = [load_vectors(path, self.encoded.tokenizer) for path in vectors]
        self.vectors = {values.shape[1]: (values, digest) for values, digest in loaded}
        # Keyed by the settings that it depends on, so that large tasks are in memory only once.
        samples = {self._sample(of): of for of in cells.values()}
        n_vocab = self.encoded.facts.n_vocab
        self.data = {key: TaskData.of(self.encoded, n_vocab, of) for key, of in samples.items()}
        self.digests = {
            "tokenizer": self.encoded.tokenizer,
            "data": self.encoded.labelled_digest,
            "code": code,
        }
        # Runs under different runtime settings or library versions are never mixed.
        self.environment: dict[str, Any] = {"runtime": runtime.numeric(), "versions": versions()}

    def _loaded(self, paths: Sequence[Path]) -> list[Checkpoint]:
        """The checkpoints for the cells to which anything is transferred.

        Raises InputError unless all of those cells start from these checkpoints.
        """
        cells = {cell: of for cell, of in self.cells.items() if of.needs_model}
        models = {of.model.model_dump_json(): of.model for of in cells.values()}
        if len(models) > 1:
            raise InputError(f"the settings are of {len(models)} models; give cells of one")
        if cells and not paths:
            raise InputError(f"--checkpoints: {next(iter(cells)).name} starts from some; give them")
        found = [
            load_checkpoint(path, model.arch, model, self.encoded.tokenizer)
            for model in models.values()
            for path in paths
        ]
        for path, checkpoint in zip(paths if models else (), found, strict=True):
            for cell, of in cells.items():
                if of.corpus not in (checkpoint.facts.corpus, VECTORS):
                    raise InputError(
                        f"{path}: pre-trained on {checkpoint.facts.corpus}, but {cell.name} "
                        f"starts from {of.corpus}; give that checkpoint"
                    )
        return found

    @staticmethod
    def _sample(of: CellSettings) -> tuple[int, int]:
        return of.eval_train, of.model.n_ctx

    def _check(self, encoded: Path, baselines: Path) -> None:
        """Raise InputError unless all cells and files belong to one task."""
        tasks = list(dict.fromkeys(cell.task for cell in self.cells))
        if len(tasks) > 1:
            raise InputError(f"the cells are of {', '.join(tasks)}; give those of one task")
        tasks_of = {encoded: self.encoded.spec.name, baselines: self.baselines.task}
        for path, task in tasks_of.items():
            if task != tasks[0]:
                raise InputError(f"{path}: of {task}, not {tasks[0]}; give that one's")
        if self.encoded.main not in self.baselines.majority:
            raise InputError(f"{baselines}: no scores of {self.encoded.main}; make it again")

    def config(self, cell: Cell) -> str:
        """The digest of a cell's fine-tuning settings."""
        return sha256_json(self.cells[cell].finetune().model_dump(mode="json"))

    def starts(self, cell: Cell, seeds: Sequence[int]) -> list[tuple[int, Checkpoint]]:
        """Each seed with the checkpoint it starts from; the checkpoints take turns, in order."""
        own = self.cells[cell]
        untrained = [self._untrained(own, seed) for seed in self.pretrain]
        models = self.checkpoints if own.needs_model else untrained
        if own.corpus == VECTORS:
            models = [self._with_vectors(cell, model) for model in models]
        return [(seed, models[i % len(models)]) for i, seed in enumerate(seeds)]

    def _with_vectors(self, cell: Cell, model: Checkpoint) -> Checkpoint:
        """The checkpoint with word vectors as its embeddings, without rows for positions.

        Raises InputError if there are no vectors of the model's width.
        """
        own = self.cells[cell].model
        width = own.shape.n_embd
        if width not in self.vectors:
            raise InputError(f"--vectors: {cell.name} starts from some of width {width}; give them")
        values, digest = self.vectors[width]
        both = sha256_json([model.facts.sha256, digest])
        facts = model.facts.model_copy(update={"corpus": VECTORS, "sha256": both})
        embed = values * (VECTORS_STD * own.init_std)
        return Checkpoint({**model.tensors, "embed": embed}, facts)

    def _untrained(self, of: CellSettings, seed: int) -> Checkpoint:
        """An empty checkpoint, of no file, for a cell to which nothing is transferred."""
        facts = CheckpointFacts(
            arch=of.model.arch,
            seed=seed,
            corpus=of.corpus,
            model=of.model,
            n_vocab=self.encoded.facts.n_vocab,
            tokenizer=self.encoded.tokenizer,
            sha256="",
        )
        return Checkpoint({}, facts)

    def key(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> Key:
        """Everything that determines the result of a run, and nothing else: no name, no path."""
        return {
            "arch": checkpoint.facts.arch,
            "task": cell.task,
            "n_transfer": self.cells[cell].n_transfer,
            "seed": seed,
            "checkpoint": checkpoint.facts.sha256,
            "config": self.config(cell),
            **self.digests,
            **self.environment,
        }

    def predicted(self, cell: Cell) -> list[str]:
        """The splits whose predictions the cell has: unlabelled ones only in the line `full`."""
        return self.encoded.named("report", *(("unlabelled",) if cell.line == FULL else ()))

    def run(
        self, cell: Cell, seed: int, checkpoint: Checkpoint, events: Path | None = None
    ) -> RunRecord:
        """The record of one run, from the cache or from training.

        With `runtime.tensorboard`, training writes its curves to the folder `events`. A cached run
        without what is asked for, predictions of these unlabelled rows or weights, is trained
        again. Raises InputError if memory runs out.
        """
        key, unlabelled = self.key(cell, seed, checkpoint), self.encoded.named("unlabelled")
        unlabelled = [name for name in self.predicted(cell) if name in unlabelled]
        digest = self.encoded.unlabelled_digest if unlabelled else ""
        record = self.cache.get(key, self.keeps_weights)
        if record and digest in ("", record.unlabelled):
            self.found += 1
            return record
        own = self.cells[cell]
        rows, data = self.runtime.micro_batch or own.batch, self.data[self._sample(own)]
        with self.runtime.holding(rows, f"rows of {cell.name}"):
            run = FineTuning(data, checkpoint, own, own.n_transfer, seed, self.runtime)
            if events and self.runtime.tensorboard:
                run.events = event_writer(events, 0)
            record = run.train().model_copy(update={"key": key})
            if run.events:
                run.events.close()
            self.cache.put(record)
            if self.keeps_weights:
                weights = self.cache.weights(key)
                write_tensors(weights, dict(run.model.named_parameters()), of=weights.stem)
            if unlabelled:
                record = record.model_copy(update={"unlabelled": digest})
                for name in unlabelled:
                    answers = listed(*run.predict_unlabelled(self.encoded.splits[name]))
                    record.predictions[name], record.probabilities[name] = answers
                self.cache.put(record)
        return record
