"""The typed model of a run's config, and the settings that each program gets from it.

The defaults are the paper's, so that a config file states only what differs from the paper.
`experiment` may change a result, `runtime` at most its speed and its rounding. Each method of
`Config` that returns settings includes only what one program uses, so that changing a key reruns
what depends on it and nothing else.
"""

import os
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from gpt1.cell import PERMUTED, SHUFFLED, WORD_VECTORS, Arch, Cell, Corpus, NTransfer
from gpt1.settings import (
    CellSettings,
    CorpusSettings,
    ModelSettings,
    OptimizerSettings,
    PretrainSettings,
    RuntimeOptions,
    RuntimeSettings,
    ScoreRange,
)
from gpt1.zero_shot_settings import ZeroShotSettings
from tasks import PAPER_TASKS, Task, task
from tasks.common.settings import DataPath, Settings, unique
from tasks.settings import CARVED, DataSource, OwnTask, PrepareSettings, TaskRows
from tasks.world.settings import WorldSettings
from workflow.configuration import sections
from workflow.configuration.sections import Runtime
from workflow.configuration.studies import (
    Study,
    StudyNames,
    alike,
    dotted_lines,
    merge,
    shipped,
    without_tasks,
)


class Experiment(Settings):
    """Everything that may change a result."""

    world: WorldSettings | None = None
    """The synthetic world's seed and sizes; only where data is null."""
    pretrained: sections.Pretrained | None = None
    arch: Arch = "transformer"
    """The architecture of the full model; variants may have the other."""
    n_transfer: sections.NTransfer = "all"
    """The number of layers that the full model takes from the language model: none for nothing at
    all, 0 for the embeddings only."""
    corpus: CorpusSettings | None = CorpusSettings(heldout=70)
    tokenizer: sections.Tokenizer = sections.Tokenizer(folder="openai_bpe")
    model: sections.Models = sections.Models()
    optimizer: OptimizerSettings = OptimizerSettings()
    pretrain: sections.Pretrain | None = sections.Pretrain()
    finetune: sections.Finetune = sections.Finetune()
    seeds: sections.Seeds = sections.Seeds()
    margins: sections.Margins = sections.Margins()
    """Differences, in points, that are too small to matter; a claim whose contrast is shown to be
    within them is judged equal."""
    tasks: Annotated[dict[sections.TaskName, sections.TaskEntry], Field(min_length=1)] = {
        t.name: sections.TaskEntry(source="hub" if t.hub.revision else None) for t in PAPER_TASKS
    }
    """The tasks of the run; null drops one of an earlier file. For a task of the suite, {} reads
    its own folder under the data folder, {folder: NAME} another folder, and {source: hub} the
    Hugging Face hub; any other name is a task of your own, with kind, files and labels."""
    only: Annotated[list[str], Field(min_length=1), unique] | None = None
    """The subset of these tasks to run, zero-shot or otherwise (null: all)."""
    zero_shot: sections.ZeroShotOptions | None = sections.ZeroShotOptions()
    """What is evaluated zero-shot (null: nothing)."""
    studies: Annotated[
        dict[Annotated[str, Field(pattern="^[a-z0-9_]+$")], Study],
        AfterValidator(alike),
        Field(validate_default=True),
    ] = {}
    """The studies by name, each name of a-z, 0-9 and _ alone. The paper's ablation and
    layer_transfer are always there: what is given for them is merged into them. Others can be
    requested as RESULTS/studies/NAME.csv."""
    all: StudyNames = ["ablation", "layer_transfer"]
    """The studies that the target all makes."""
    cloze: DataPath | None = None
    """A JSONL file of cloze items under the data folder, scored at each checkpoint (null: those
    of the synthetic world, or none)."""
    submission: bool = False
    """Whether GLUE's unlabelled test rows are predicted as well, for glue_submission.zip."""
    keep: Annotated[list[sections.CellName], unique] = []
    """Cells of a study whose fine-tuned weights are kept for all seeds, such as full/sst2."""

    @property
    def zero_shot_tasks(self) -> dict[str, DataSource]:
        """The zero-shot tasks, and where their rows are if they are not tasks of the run."""
        if not self.zero_shot:
            return {}
        asked = [name for name in self.tasks if self.task(name).prompt]
        own = [name for name in asked if self.tasks[name].own]
        names = dict.fromkeys([*(self.zero_shot.tasks or (*asked, "dprd")), *own])
        entry = self.zero_shot.tasks.get
        return {name: entry(name, DataSource()) for name in names if name in (self.only or names)}

    @property
    def zero_shot_scores(self) -> dict[str, ScoreRange]:
        """The scores that count as 0 and as 1 in each zero-shot task."""
        known = sections.ZERO_SHOT | (self.zero_shot.normalise if self.zero_shot else {})
        return {
            name: known.get(name) or ScoreRange(random=self.task(name).random_score, best=100)
            for name in self.zero_shot_tasks
        }

    def task(self, name: str) -> Task:
        """A task of the run. Raises InputError for a name that no task has."""
        return task(name, self.own_tasks.get(name))

    @property
    def own_tasks(self) -> dict[str, OwnTask]:
        """The tasks that the config describes, by name."""
        return {name: own for name, entry in self.tasks.items() if (own := entry.own)}

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: Any) -> Any:
        """With the shipped studies, and without pre-training and tasks where they do not run."""
        if not isinstance(given, dict):
            return given
        if isinstance(own := given.get("studies", {}), dict):
            given = given | {
                "studies": merge(shipped(not given.get("pretrained")), dotted_lines(own))
            }
        if given.get("pretrained"):
            given = {"corpus": None, "pretrain": None} | given
        found = given.get("tasks", cls.model_fields["tasks"].default)
        if not isinstance(found, dict):
            return given
        only, left = given.get("only"), {n: of for n, of in found.items() if of is not None}
        if isinstance(only, list) and left.keys() & {*map(str, only)}:
            left = {name: of for name, of in left.items() if name in only}
        dropped, runs = found.keys() - left.keys(), [*map(str, left)]
        parts = {key: given[key] for key in given.keys() & {"zero_shot", "keep", "studies"}}
        return given | {"tasks": left} | without_tasks(parts, dropped, runs)


class Config(Settings):
    """The configuration of a run."""

    results: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_./][A-Za-z0-9_./-]*$", max_length=250),
        AfterValidator(os.path.normpath),
    ] = "results"
    """The folder that everything is written to, a path of letters, digits and _ . / - alone."""
    data: Annotated[str, Field(min_length=1)] | None = None
    """The folder of the raw data (null: the synthetic world)."""
    experiment: Experiment = Experiment()
    runtime: Runtime = Runtime()

    # --- what the graph is made of ---

    def n_layer(self, arch: Arch) -> int:
        """Number of layers of an architecture."""
        return getattr(self.experiment.model, arch).n_layer

    def updates(self) -> list[int]:
        """The pre-training updates that have a checkpoint; by default the last is fine-tuned."""
        if self.experiment.pretrained:
            return [self.experiment.pretrained.updates]
        return self._pretrain.with_checkpoint

    def examples(self) -> dict[str, DataSource]:
        """Every task whose rows are read, with its entry: the run's and the zero-shot tasks."""
        tasks = self.experiment.tasks
        others = {t: e for t, e in self.experiment.zero_shot_tasks.items() if t not in tasks}
        return {**tasks, **others}

    def unlabelled(self) -> list[str]:
        """The GLUE tasks whose test rows are predicted for the submission."""
        entries = self.experiment.tasks if self.experiment.submission else {}
        return [t for t in entries if self.experiment.task(t).unlabelled]

    def kept(self) -> list[Cell]:
        """The cells whose fine-tuned weights are kept."""
        return [Cell.named(name) for name in self.experiment.keep]

    def scale(self, archs: Iterable[Arch]) -> str:
        """The data and the models in words."""
        experiment, shapes = self.experiment, self.experiment.model
        data = " and ".join(dict.fromkeys(map(self._origin, self.examples().values())))
        size = f"{shapes.transformer.n_layer} layers of {shapes.transformer.n_embd} units"
        models = {"transformer": f"transformer of {size}"}
        models["lstm"] = f"LSTM of {shapes.lstm.n_hidden} units"
        named, trained = " and ".join(models[arch] for arch in archs), "published weights"
        if own := experiment.pretrain:
            tokens = own.updates * own.batch * shapes.n_ctx
            trained = f"{own.updates:,} updates of pre-training, {tokens:,} tokens"
            made = experiment.corpus is not None and self.is_synthetic(experiment.corpus)
            trained += " of synthetic books" * (made and "synthetic" not in data)
        return f"{data}; {named}; {trained}"

    def is_synthetic(self, entry: DataSource | CorpusSettings) -> bool:
        """Whether a data set is made by the synthetic world, not read from the hub or a folder."""
        return self.data is None and self.is_below_data(entry)

    def is_below_data(self, entry: DataSource | CorpusSettings) -> bool:
        """Whether a data set lies below the data folder or in the synthetic world.

        Not one of the hub, an own task, or one in a folder that is absolute, or that is named where
        a world is made, which has no folders but its own.
        """
        is_own = getattr(entry, "own", None) is not None
        in_world = self.data is None and self.experiment.world is not None
        elsewhere = entry.folder and (in_world or os.path.isabs(entry.folder))
        return entry.source is None and not is_own and not elsewhere

    def _origin(self, entry: DataSource) -> str:
        if self.is_synthetic(entry):
            return "the synthetic world"
        if entry.source:
            return "data sets of the hub"
        where = self.data or entry.folder
        return f"data of {where}" if where else "own data"

    # --- what a program is given ---

    def prepare(self, name: str) -> PrepareSettings:
        """For `tasks.prepare`: how one task's rows are split and limited."""
        finetune, entry = self.experiment.finetune, self.examples()[name]
        rows = entry.model_dump(include={*TaskRows.model_fields} - {"folder"})  # the rule gives it
        if (own := self.experiment.own_tasks.get(name)) and len(own.by_split) == 1:
            rows["carve"] = rows["carve"] or CARVED
        return PrepareSettings(
            **rows,
            own=own and own.model_copy(update={"prompt": None, "choices": []}),  # not used there
            published=not self.is_synthetic(entry) and not own,
            seed=finetune.select_seed,
            select_fraction=finetune.select_fraction,
            unlabelled=name in self.unlabelled(),
        )

    def corpus(self) -> CorpusSettings:
        """For `gpt1.corpus`: where the books come from, and which are held out."""
        corpus = self.experiment.corpus
        assert corpus is not None, "published weights have no corpus"
        return corpus.model_copy(update={"folder": None})  # the rule gives the path

    def model(self, arch: Arch) -> ModelSettings:
        """The model of one architecture."""
        models = self.experiment.model
        shared = models.model_dump(exclude={"transformer", "lstm"})
        return ModelSettings(**shared, shape=getattr(models, arch))

    def pretrain(self, arch: Arch, seed: int) -> PretrainSettings:
        """For `gpt1.pretrain`: model, optimizer, schedule and seed of one language model."""
        return PretrainSettings(
            **self._pretrain.model_dump(exclude={"lr", "checkpoints", "shuffled"}),
            seed=seed,
            lr=getattr(self._pretrain.lr, arch),
            checkpoints=self.updates(),
            model=self.model(arch),
            optimizer=self.experiment.optimizer,
        )

    def checkpoint(self) -> int:
        """The pre-training update whose checkpoint is fine-tuned."""
        given = self.experiment.finetune.checkpoint
        return self.updates()[-1] if given is None else given

    def finetune(self, task: str) -> CellSettings:
        """What a cell of a task starts from and how it is trained.

        A task's own values take precedence over those for all tasks.
        """
        experiment, arch = self.experiment, self.experiment.arch
        common, of_cells = experiment.finetune, CellSettings.model_fields.keys()

        def given(section: Settings, keys: Iterable[str] = of_cells) -> dict[str, Any]:
            return section.model_dump(include={*keys}, exclude_none=True)

        values = merge(given(common), given(experiment.tasks[task]))
        return CellSettings(
            **values | {"lr": values["lr"][arch]},
            model=self.model(arch).model_copy(update=given(common, ["init_std"])),
            optimizer=experiment.optimizer.model_copy(update=given(common, ["l2", "eps"])),
            n_transfer=self.n_transfer(),
            corpus=self.read(),
        )

    def read(self) -> Corpus:
        """What the language model has read, or what was done to its embeddings since."""
        pretrain, embeddings = self.experiment.pretrain, self.experiment.finetune.embeddings
        if embeddings != "learned":
            return PERMUTED if embeddings == "permuted" else WORD_VECTORS
        return SHUFFLED[pretrain.shuffled] if pretrain and pretrain.shuffled else "books"

    def n_transfer(self) -> NTransfer:
        """The number of layers that are transferred, with `all` as a number."""
        given = self.experiment.n_transfer
        return self.n_layer(self.experiment.arch) if given == "all" else given

    def zero_shot(self, arch: Arch) -> ZeroShotSettings:
        """For `gpt1.zero_shot`: prompts, the number of rows, the scores that count as 0 and 1."""
        scores = self.experiment.zero_shot_scores
        return ZeroShotSettings(
            limit=asked.limit if (asked := self.experiment.zero_shot) else None,
            normalise=scores,
            prompts={name: of for name in scores if (of := self.experiment.task(name).prompt)},
            model=self.model(arch),
        )

    def runtime_of(self, stage: Literal["pretrain", "finetune"]) -> RuntimeSettings:
        """What may change the speed of a `pretrain` or `finetune` job."""
        shared = self.runtime.model_dump(include={*RuntimeOptions.model_fields})
        return RuntimeSettings(**shared, threads=getattr(self.runtime, f"{stage}_threads"))

    @property
    def _pretrain(self) -> sections.Pretrain:
        assert self.experiment.pretrain is not None, "published weights have no pre-training"
        return self.experiment.pretrain
