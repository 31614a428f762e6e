"""Fine-tune cells, each with all its seeds.

    python -m gpt1 finetune results/cells/{full,n_transfer-none}/cola.json ...

Each cell's predictions are written beside its JSON, to the places that `gpt1.cell` gives. A cell
trains in seconds but a process takes two seconds to start, so one process runs many: cells of one
task that start from one language model, or from none. The distribution of cells over jobs does not
affect results. Every finished run is cached; failed runs are reported at the end, after all others.

With --keep, the weights of all seeds are written for `gpt1.predict` as well.
"""

import argparse
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpt1.cell import UNCHANGED, WORD_VECTORS, Cell
from gpt1.data import load_task
from gpt1.records import CellDigests, CellRecord, CellRun, CheckpointFacts, Made, RunRecord
from gpt1.settings import CellSettings, JobSettings
from gpt1.training import cell_files
from gpt1.training.cell_files import RunCache
from gpt1.training.finetuning import FineTuning, answer, listed
from gpt1.training.run_files import event_writer
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import (
    Checkpoint,
    load_checkpoint,
    load_vectors,
    versions,
    write_tensors,
)
from tasks.common.errors import InputError
from tasks.common.files import sha256_file, sha256_json
from tasks.common.records import BaselinesRecord

# The standard deviation of word vectors, as a multiple of the initial weights'. With 1, the layers
# learn where tokens stand before what they are (bench/LOG.md).
VECTORS_STD = 2.0


class CellJob:
    """The cells of one job, with what they share: the task, and the language model they start from.

    `cells` maps each cell to its settings; their files are below `results`. `checkpoints` are of
    one language model, each with its own pre-training seed; there are none if nothing is
    transferred. Runs that start without a checkpoint are still paired with the pre-training seeds
    `pretrain`. `vectors` are files of word vectors, one for each width among the cells that start
    from word vectors. Given the folder of the `tokenizer`, the weights of every run are kept, and
    its files beside them. Raises InputError if a file is damaged or missing, or if cells, files and
    settings do not match.
    """

    def __init__(
        self,
        cells: Mapping[Cell, CellSettings],
        results: Path,
        encoded: Path,
        baselines: Path,
        checkpoints: Sequence[Path],
        runtime: Runtime,
        cache: Path,
        code: str = "",
        pretrain: Sequence[int] = (0,),
        vectors: Sequence[Path] = (),
        tokenizer: Path | None = None,
    ):
        self.cells, self.results, self.tokenizer = cells, results, tokenizer
        self.runtime, self.cache = runtime, RunCache(cache)
        self.encoded, self.baselines = load_task(encoded), BaselinesRecord.read(baselines)
        self._check(encoded, baselines)
        self.pretrain, self.found = pretrain, 0  # runs that were in the cache
        self.checkpoints = self._loaded(checkpoints)
        loaded = [load_vectors(path, self.encoded.tokenizer) for path in vectors]
        self.vectors = {values.shape[1]: (values, digest) for values, digest in loaded}
        # Keyed by what it depends on, so that large tasks are in memory only once.
        contexts = {of.model.n_ctx for of in cells.values()}
        self.splits = {n_ctx: self.encoded.sequences(n_ctx) for n_ctx in contexts}
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
        models = {of.model for of in cells.values()}
        if len(models) > 1:
            raise InputError(f"the settings are of {len(models)} models; give cells of one")
        if cells and not paths:
            raise InputError(f"--checkpoints: {next(iter(cells)).name} starts from some; give them")
        found = [
            load_checkpoint(path, model.arch, model, self.encoded.tokenizer)
            for model in models
            for path in paths
        ]
        for path, checkpoint in zip(paths if models else (), found, strict=True):
            for cell, of in cells.items():
                if of.corpus not in (checkpoint.facts.corpus, WORD_VECTORS):
                    raise InputError(
                        f"{path}: pre-trained on {checkpoint.facts.corpus}, but {cell.name} "
                        f"starts from {of.corpus}; give that checkpoint"
                    )
        return found

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
        """The digest of a cell's fine-tuning settings, without what it starts from."""
        own = self.cells[cell].model_dump(mode="json", exclude={"n_transfer", "corpus"})
        return sha256_json(own)

    def starts(self, cell: Cell, seeds: Sequence[int]) -> list[tuple[int, Checkpoint]]:
        """Each seed with the checkpoint it starts from; the checkpoints take turns, in order."""
        own, models = self.cells[cell], self.checkpoints
        if not own.needs_model:  # empty checkpoints, of no file
            facts = CheckpointFacts(
                arch=own.model.arch,
                corpus=own.corpus,
                model=own.model,
                n_vocab=self.encoded.facts.n_vocab,
                tokenizer=self.encoded.tokenizer,
                sha256="",
            )
            seeds_of = [facts.model_copy(update={"seed": seed}) for seed in self.pretrain]
            models = [Checkpoint({}, of_seed) for of_seed in seeds_of]
        if own.corpus == WORD_VECTORS:
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
        facts = model.facts.model_copy(update={"corpus": WORD_VECTORS, "sha256": both})
        embed = values * (VECTORS_STD * own.init_std)
        return Checkpoint({**model.tensors, "embed": embed}, facts)

    def key(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> dict[str, Any]:
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
        """The splits whose predictions the cell has: unlabelled ones only in the variant `full`."""
        return self.encoded.named("report", *(("unlabelled",) if cell.variant == UNCHANGED else ()))

    def run(self, cell: Cell, seed: int, checkpoint: Checkpoint) -> RunRecord:
        """The record of one run, from the cache or from training.

        With `runtime.tensorboard`, training writes its curves to a folder beside the cell's JSON. A
        cached run without what is asked for, predictions of these unlabelled rows or weights, is
        trained again. Raises InputError if memory runs out.
        """
        key, report = self.key(cell, seed, checkpoint), self.encoded.named("report")
        unlabelled = [name for name in self.predicted(cell) if name not in report]
        digest = self.encoded.unlabelled_digest if unlabelled else ""
        record = self.cache.get(key, with_weights=self.tokenizer is not None)
        if record and digest in ("", record.unlabelled):
            self.found += 1
            return record
        own, spec = self.cells[cell], self.encoded.spec
        splits = self.splits[own.model.n_ctx]
        rows = self.runtime.micro_batch or own.batch
        with self.runtime.holding(rows, f"rows of {cell.name}"):
            run = FineTuning(spec, splits, checkpoint, own, seed, self.runtime)
            if self.runtime.tensorboard:
                folder = cell.path(self.results).with_suffix("")
                run.events = event_writer(folder / f"seed-{seed}", 0)
            record = run.train().model_copy(update={"key": key})
            if run.events:
                run.events.close()
            self.cache.put(record)
            if self.tokenizer:
                weights = self.cache.weights(key)
                write_tensors(weights, dict(run.model.named_parameters()), of=weights.stem)
            if unlabelled:
                record = record.model_copy(update={"unlabelled": digest})
                for name in unlabelled:
                    found = answer(run.model, spec, self.encoded.splits[name], self.runtime)
                    record.predictions[name], record.probabilities[name] = listed(*found)
                self.cache.put(record)
        return record

    def write(self, cell: Cell, runs: Sequence[tuple[Checkpoint, RunRecord]]) -> None:
        """Write a cell's files from the runs of its seeds, and print its scores."""
        path, predictions = cell.path(self.results), cell.predictions(self.results)
        encoded, settings, (checkpoint, first) = self.encoded, self.cells[cell], runs[0]
        spec, split, records = encoded.spec, encoded.main, [record for _, record in runs]
        cell_files.write_predictions(predictions, cell, encoded, self.predicted(cell), records)
        digest = sha256_file(predictions)
        books = any(start.facts.made for start, _ in runs)
        made: dict[Made, bool] = {"rows": encoded.facts.made, "books": books}
        majority = self.baselines.majority[split][spec.metric]
        CellRecord(
            **vars(cell),
            made=[name for name, is_made in made.items() if is_made],
            own=encoded.facts.own,
            arch=checkpoint.facts.arch,
            corpus=checkpoint.facts.corpus,
            n_transfer=settings.n_transfer,
            lm_coef=settings.lm_coef,
            family=spec.family,
            metric=spec.metric,
            copied=first.copied,
            truncated=first.truncated,
            baselines=self.baselines,
            seeds=[
                CellRun(
                    **vars(record),
                    alarms=cell_files.alarms(record, majority, split, spec.metric),
                    pretrain_seed=start.facts.seed,
                    checkpoint=start.facts.sha256,
                )
                for start, record in runs
            ],
            settings=settings,
            digests=CellDigests(config=self.config(cell), **self.digests, predictions=digest),
            **self.environment,
        ).write(path)
        shown = " ".join(f"{record.scores[split][spec.metric]:.1f}" for record in records)
        print(f"{path}: {split} {spec.metric} {shown}", flush=True)
        if self.tokenizer:
            weights = {record.seed: self.cache.weights(record.key) for record in records}
            cell_files.keep(cell.kept(self.results), path, self.tokenizer, weights)
            kept = f"kept the weights of {len(weights)} seeds"
            print(f"{cell.kept(self.results)}: {kept}", flush=True)

    def train(self, seeds: Sequence[int]) -> list[str]:
        """Run every cell and write its files; returns a line for each failed run.

        A failed run costs only its own cell. Raises InputError or OSError for a file that cannot be
        read or written and for a lack of memory, which stop all cells.
        """
        failures = []
        for cell in self.cells:
            runs = []
            for seed, checkpoint in self.starts(cell, seeds):
                fault = f"{cell.path(self.results)}, seed {seed}"
                try:
                    runs.append((checkpoint, self.run(cell, seed, checkpoint)))
                except (InputError, OSError):  # a full disk or memory, or a damaged file: stops all
                    raise
                except FloatingPointError as error:  # the training diverged
                    failures.append(f"{fault}: {error}; lower experiment.finetune.lr")
                except Exception as error:  # a bug: told in full, but the other cells still run
                    traceback.print_exc()
                    failures.append(f"{fault}: {type(error).__name__}: {error}")
            if len(runs) == len(seeds):
                self.write(cell, runs)
        if self.found:
            total = len(self.cells) * len(seeds)
            print(f"taken from an earlier run: {self.found} of {total}", flush=True)
        return failures


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", type=Path, help="JSON files to write, .../cells/...")
    parser.add_argument("--encoded", required=True, type=Path, help="the encoded task")
    parser.add_argument("--baselines", required=True, type=Path, help="JSON of its baselines")
    parser.add_argument(
        "--checkpoints",
        default=[],
        nargs="*",
        type=Path,
        help="one for each pre-training seed; none if no cell is transferred anything",
    )
    parser.add_argument(
        "--pretrain-seeds",
        default=[0],
        nargs="+",
        type=int,
        help="without a checkpoint the i-th of --seeds is paired with the i-th of these, modulo "
        "their number",
    )
    parser.add_argument(
        "--vectors", default=[], nargs="*", type=Path, help="word vectors, of each width one"
    )
    parser.add_argument("--settings", required=True, type=JobSettings.parse, help="by variant")
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument(
        "--code",
        required=True,
        help="digest of the code, part of the cache's key: give another after an edit",
    )
    parser.add_argument("--cache", required=True, type=Path, help="folder of finished runs")
    parser.add_argument(
        "--keep", type=Path, metavar="TOKENIZER", help="keep the weights, with this tokenizer"
    )
    a = parser.parse_args()
    cells = [Cell.parse(path) for path in a.cells]
    results = {path.absolute().parents[2] for path in a.cells}
    if len(results) > 1:
        raise InputError(f"the cells are of {len(results)} folders of results; give those of one")
    if unknown := {cell.variant for cell in cells} - a.settings.variants.keys():
        raise InputError(f"--settings: none of {min(unknown)}; give those of each variant")
    a.runtime.start()
    job = CellJob(
        {cell: a.settings.variants[cell.variant] for cell in cells},
        *(a.cells[0].parents[2], a.encoded, a.baselines, a.checkpoints, a.runtime, a.cache),
        *(a.code, a.pretrain_seeds, a.vectors, a.keep),
    )
    if failures := job.train(a.seeds):
        raise InputError(f"{len(failures)} runs failed, the others are kept: {'; '.join(failures)}")
