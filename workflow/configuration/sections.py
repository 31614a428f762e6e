"""The sections of the config: keys, types, defaults, bounds and descriptions.

Most come from the settings of the programs; added here are the keys that only the graph needs (both
architectures side by side, the number of checkpoints).
"""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, Field, model_validator

from gpt1.cell import Cell, Embeddings, Shuffled
from gpt1.settings import (
    Batch,
    Count,
    Epochs,
    Eps,
    FinetuneMethod,
    FinetuneOptions,
    InitStd,
    LSTMShape,
    ModelOptions,
    PretrainOptions,
    RuntimeOptions,
    ScoreRange,
    Seed,
    TransformerShape,
    Weight,
    Workers,
)
from tasks.common.errors import InputError
from tasks.common.settings import DataPath, Settings, unique
from tasks.settings import DataSource, OwnTask, TaskRows

# Scores of a random guess and of the best single model of 2018 on the paper's zero-shot tasks:
# those of its Table 4 for SST-2 and CoLA. The paper does not print the other two: 50.4 is
# BiAttention MRU as a single model, 76.4 Peng et al. 2015. Other tasks have a random guess and 100.
ZERO_SHOT = {
    "sst2": ScoreRange(random=50, best=93.2),
    "cola": ScoreRange(random=0, best=35.0),
    "race": ScoreRange(random=25, best=50.4),
    "dprd": ScoreRange(random=50, best=76.4),
}


def _check_cell(name: str) -> str:
    try:
        return Cell.named(name).name
    except InputError:
        raise ValueError("not a cell such as full/sst2") from None


TaskName = Annotated[str, Field(pattern="^[a-z0-9_]+$", max_length=40)]
CellName = Annotated[str, AfterValidator(_check_cell)]
NTransfer = Annotated[int, Field(ge=0)] | Literal["none", "all"]
LearningRate = Annotated[float, Field(ge=1e-12, le=1e6)]
# What the rows of baselines are called in tables, where no variant has such a title.
BASELINES = {"majority": "constant answer, best on training rows", "bag_of_words": "bag of words"}
SHALLOW = {
    "word_overlap": "word overlap",
    "one_text": "one text alone",
    "word_pairs": "words x words",
    "word_classes": "word classes",
    "class_orders": "word classes in order",
    "nearest_neighbours": "nearest neighbours",
    "affix_bigrams": "affix bigrams",
    "best": "best of all baselines",
}
BEST = "best baseline"


class Pretrained(Settings):
    """Published weights, in place of corpus and pretrain."""

    path: DataPath
    """The folder of the weights, config.json and model.safetensors, under the data folder or
    absolute."""
    updates: Count
    """Updates that the weights were trained for, which no file states."""


class Tokenizer(Settings):
    """Either merges (train a BPE on the corpus) or folder (load a published one)."""

    merges: Annotated[int, Field(ge=1, le=2**16)] | None = None
    """Number of BPE merges to learn from the corpus."""
    folder: DataPath | None = None
    """A folder with encoder_bpe_40000.json and vocab_40000.bpe, under the data folder or
    absolute."""

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if bool(self.merges) == bool(self.folder):
            raise ValueError("give either merges or folder")
        return self


class Models(ModelOptions):
    """Both architectures; one that no variant uses has no effect."""

    transformer: TransformerShape = TransformerShape()
    lstm: LSTMShape = LSTMShape()


class PretrainRates(Settings):
    """Peak learning rates of pre-training; the paper does not give the LSTM's."""

    transformer: LearningRate = 2.5e-4
    """The transformer's, such as 2.5e-4."""
    lstm: LearningRate = 2.5e-4
    """The LSTM's."""


class FinetuneRates(Settings):
    """Peak learning rates of fine-tuning; the paper does not give the LSTM's."""

    transformer: LearningRate = 6.25e-5
    """The transformer's, such as 6.25e-5."""
    lstm: LearningRate = 6.25e-5
    """The LSTM's."""


class TaskRates(Settings):
    """A task's own peak learning rates; null stands for those of experiment.finetune."""

    transformer: LearningRate | None = None
    """The transformer's, such as 6.25e-5."""
    lstm: LearningRate | None = None
    """The LSTM's."""


class Pretrain(PretrainOptions):
    """How both language models are trained on the books."""

    lr: PretrainRates = PretrainRates()
    checkpoints: Annotated[int, Field(ge=1, le=1000)] = 9
    """Number of log-spaced checkpoints after the untrained one."""
    shuffled: Shuffled | None = None
    """What is shuffled in the books, as a negative control: words (within each sentence) or
    sentences (null: nothing)."""

    @property
    def with_checkpoint(self) -> list[int]:
        """0, the untrained model, and log-spaced updates from 1 % of all (or 1) to the last.

        Strictly increasing; fewer than `checkpoints` if there are too few updates for that many.
        """
        first, n = max(1, round(self.updates / 100)), self.checkpoints
        spaced = (round(first * (self.updates / first) ** (i / (n - 1))) for i in range(n - 1))
        return sorted({0, *spaced, self.updates})


class Finetune(FinetuneOptions):
    """How a cell is fine-tuned on its task."""

    lr: FinetuneRates = FinetuneRates()
    lm_coef: Weight = 0.5
    """Weight of the auxiliary LM loss (0: without it)."""
    init_std: InitStd | None = None
    """Standard deviation of the initial weights that are not transferred (null: the model's)."""
    l2: Weight | None = None
    """Weight decay of fine-tuning (null: that of experiment.optimizer)."""
    eps: Eps | None = None
    """The optimizer's eps in fine-tuning (null: that of experiment.optimizer)."""
    method: FinetuneMethod = FinetuneMethod()
    checkpoint: Annotated[int, Field(ge=0, le=2**40)] | None = None
    """The pre-training update whose checkpoint is fine-tuned (null: the last)."""
    embeddings: Embeddings = "learned"
    """The embeddings that fine-tuning starts from: learned, those of that checkpoint; permuted, the
    same but exchanged among content words (a negative control); vectors, word vectors made from the
    books, which need no language model if n_transfer is 0."""
    select_fraction: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """Share of the training rows that select the best epoch (Story Cloze: the authors' share)."""
    select_seed: Seed = 0
    """Seed that draws those rows."""


SeedList = Annotated[list[Seed], Field(min_length=1, max_length=1000), unique]


class Seeds(Settings):
    """Seeds of pre-training and of fine-tuning, paired by position."""

    pretrain: SeedList = [0]
    """Seeds of pre-training (weights, windows and dropout), one model each."""
    finetune: SeedList = [0, 1, 2]
    """Seeds of fine-tuning, the same in every cell; the i-th starts from the i-th seed of pretrain,
    cycling through them if there are fewer."""

    def sources(self) -> list[int]:
        """The pre-training seeds that cells start from, at most as many as for fine-tuning."""
        return self.pretrain[: len(self.finetune)]


class Margins(Settings):
    """Differences, in points, that are too small to matter; stated before the run."""

    task: Annotated[float, Field(gt=0)] = 5.0
    """For a single task."""
    mean: Annotated[float, Field(gt=0)] = 2.0
    """For an average over tasks."""


class TaskEntry(TaskRows, OwnTask):
    """A task of the run: where its data is, its limits, and its own training settings."""

    epochs: Epochs | None = None
    """This task's passes over its rows."""
    batch: Batch | None = None
    """This task's rows per update."""
    lr: TaskRates = TaskRates()
    lm_coef: Annotated[float, Field(gt=0, le=1000)] | None = None
    """This task's weight of the auxiliary LM loss."""

    @property
    def own(self) -> OwnTask | None:
        """The description of a task of the user's own; None for a task of the suite."""
        if self.kind is None:
            return None
        return OwnTask(**{key: getattr(self, key) for key in OwnTask.model_fields})


class ZeroShotOptions(Settings):
    """The zero-shot tasks and the values that normalise their scores."""

    limit: Count | None = None
    """Maximum number of rows scored per task (null: all)."""
    tasks: dict[TaskName, DataSource] = {}
    """The zero-shot tasks ({}: all of experiment.tasks that have a prompt, and dprd): {} for a task
    of experiment.tasks or one in its own folder, else {folder: NAME} or {source: hub}."""
    normalise: dict[TaskName, ScoreRange] = {}
    """Scores that count as 0 and as 1, such as {dprd: {random: 50, best: 90}}, in place of those of
    a random guess and of the state of the art of 2018 (100 if the paper has no heuristic)."""


class PerStage(Settings):
    """A limit for each of the two kinds of long jobs, and how far further attempts may raise it."""

    pretrain: Count
    """For a pre-training job."""
    finetune: Count
    """For a fine-tuning or zero-shot job."""
    max: Count | None = None
    """The most that any job asks for: attempt n asks for n times the amount, up to this (null: no
    limit)."""

    def of(self, stage: str, attempt: int) -> int:
        """What a stage's jobs ask for in an attempt, counted from 1."""
        asked: int = attempt * getattr(self, stage)
        return asked if self.max is None else min(asked, self.max)


class Minutes(PerStage):
    """Time limits, for the long jobs and for those that prepare the data."""

    data: Count = 60
    """For a job that prepares data: books, tokens, tokenizer, examples, contamination, imported
    weights."""


class Runtime(RuntimeOptions):
    """What may change a run's speed, and its numbers at most by rounding or dropout masks."""

    pretrain_threads: Workers = 1
    """CPU threads of a pre-training job."""
    pretrain_processes: Workers = 1
    """Processes that pre-train one model together, each with pretrain_threads threads and, if
    device is cuda, a GPU of its own."""
    finetune_threads: Workers = 1
    """CPU threads of a fine-tuning job."""
    gpu_model: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.]+$")] | None = None
    """Kind of GPU that a job asks a cluster for, such as a100, in letters, digits, _ and . alone,
    because Snakemake's plugin takes no other (null: any; `constraint` in a profile chooses nodes).
    """
    shards: Count = 1
    """Number of jobs that the variants of one language model are split into."""
    mem_mb: PerStage = PerStage(pretrain=1500, finetune=1500)
    """Memory that a job asks a cluster for, in MB."""
    minutes: Minutes = Minutes(pretrain=60, finetune=30)
    """Time that a job asks a cluster for, in minutes; a partition must allow it, or the job waits
    for ever."""


def section_of(kind: Any) -> type[BaseModel] | None:
    """The class of the section that a key holds, or of its named sections; None without one."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next(filter(None, map(section_of, get_args(kind))), None)
