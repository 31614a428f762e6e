"""The sections of the config: keys, types, defaults, bounds and descriptions.

Most come from the settings of the programs; what is added here are the keys that the graph alone
needs (both architectures side by side, the number of checkpoints, the grid).
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from gpt1.cell import Arch, Aux, Cell
from gpt1.settings import (
    Batch,
    Count,
    Epochs,
    FinetuneMethod,
    FinetuneOptions,
    LSTMShape,
    ModelOptions,
    PretrainOptions,
    RuntimeOptions,
    ScoreRange,
    Seed,
    TransformerShape,
    Workers,
)
from tasks import TASKS
from tasks.common.errors import InputError
from tasks.common.settings import Settings, unique
from tasks.settings import DataSource, TaskRows
from tasks.world.settings import Discourse, WorldSettings

# The zero-shot tasks, with the scores of a random guess and of the best single model of 2018: the
# paper's Table 4 for SST-2 and CoLA. The paper does not print the other two: 50.4 is BiAttention
# MRU as a single model, 76.4 Peng et al. 2015.
ZERO_SHOT = {
    "sst2": ScoreRange(random=50, best=93.2),
    "cola": ScoreRange(random=0, best=35.0),
    "race": ScoreRange(random=25, best=50.4),
    "dprd": ScoreRange(random=50, best=76.4),
}
RATE = "peak learning rate, such as 6.25e-5"


def _check_cell(name: str) -> str:
    try:
        return Cell.named(name).place
    except InputError:
        raise ValueError("not a cell such as transformer/sst2/aux-on/layers-12") from None


if TYPE_CHECKING:
    TaskName = str
    ZeroShotTaskName = str
else:
    TaskName = Literal[*[task.name for task in TASKS]]
    ZeroShotTaskName = Literal[*ZERO_SHOT]
CellName = Annotated[str, AfterValidator(_check_cell)]
FolderName = Annotated[str, Field(min_length=1)]
Layer = Annotated[int, Field(ge=0)] | Literal["none"]
Layers = Annotated[list[Layer], Field(min_length=1), unique]
LearningRate = Annotated[float, Field(ge=1e-12, le=1e6)]
Weight = Annotated[float, Field(gt=0, le=1000)]


class Pretrained(Settings):
    """Published weights, in place of corpus and pretrain."""

    path: FolderName = Field(
        description="the folder of the weights, under the data folder or absolute"
    )
    format: Literal["openai", "huggingface"] = Field(
        description="openai (params_*.npy) or huggingface (config.json and model.safetensors)"
    )
    updates: Count = Field(
        description="updates that the weights were trained for, which no file states"
    )


class Tokenizer(Settings):
    """Either merges (train a BPE on the corpus) or folder (load a published one)."""

    merges: Annotated[int, Field(ge=1, le=2**16)] | None = Field(
        None, description="number of BPE merges to learn from the corpus"
    )
    folder: FolderName | None = Field(
        None,
        description="a folder with encoder_bpe_40000.json and vocab_40000.bpe, under the data "
        "folder or absolute",
    )


class World(WorldSettings):
    """The embedded world, and what is done to its books alone: its tasks stay as they are."""

    exclude: Annotated[list[Discourse], unique] = Field(
        [],
        description="kinds of discourse that the books do not have; the others fill as many words",
    )
    planted: Annotated[list[Annotated[int, Field(ge=1, le=1000)]], unique] = Field(
        [],
        description="how often reported rows are planted into the books, such as [1, 16]: other "
        "rows for each; only in a line of a study (tasks.world.planting)",
    )


class Transformer(TransformerShape):
    """The transformer's shape and its blocks; the paper's by default."""

    block: Literal["gpt1", "modern"] = Field(
        "gpt1",
        description="GPT-1's blocks, or modern ones (pre-norm, RMSNorm, RoPE, SwiGLU) at equal "
        "FLOPs, trained by AdamW (gpt1.model.modern)",
    )


class Models(ModelOptions):
    """Both architectures; an architecture that grid.arch leaves out is not used."""

    transformer: Transformer = Transformer()
    lstm: LSTMShape = LSTMShape()


class PretrainRates(Settings):
    """Peak learning rates of pre-training; the LSTM's is a choice."""

    transformer: LearningRate = Field(2.5e-4, description=RATE)
    lstm: LearningRate = Field(2.5e-4, description=RATE)


class FinetuneRates(Settings):
    """Peak learning rates of fine-tuning; the LSTM's is a choice."""

    transformer: LearningRate = Field(6.25e-5, description=RATE)
    lstm: LearningRate = Field(6.25e-5, description=RATE)


class TaskRates(Settings):
    """A task's own peak learning rates; null stands for those of experiment.finetune."""

    transformer: LearningRate | None = Field(None, description=RATE)
    lstm: LearningRate | None = Field(None, description=RATE)


class Pretrain(PretrainOptions):
    """How both language models are trained on the books."""

    lr: PretrainRates = PretrainRates()
    checkpoints: Annotated[int, Field(ge=1, le=1000)] = Field(
        9, description="number of log-spaced checkpoints after the untrained one"
    )


class Finetune(FinetuneOptions):
    """How a cell is fine-tuned on its task."""

    lr: FinetuneRates = FinetuneRates()
    lm_coef: Weight = Field(0.5, description="weight of the auxiliary LM loss where aux is on")
    l2: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="weight decay of fine-tuning (null: that of experiment.optimizer)"
    )
    method: FinetuneMethod = FinetuneMethod()
    checkpoint: Annotated[int, Field(ge=0, le=2**40)] | None = Field(
        None, description="the pre-training update whose checkpoint is fine-tuned (null: the last)"
    )
    multi_task: Annotated[list[str], unique] = Field(
        [],
        description="tasks that one model is trained on at once, with a classifier for each, "
        "instead of a model each",
    )
    select_fraction: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.1,
        description="share of the training rows that select the best epoch (Story Cloze: the "
        "authors' own)",
    )
    select_seed: Seed = Field(0, description="seed that draws those rows")


class TaskEntry(TaskRows):
    """A task of the grid: where its data is, its limits, and its own training settings."""

    epochs: Epochs | None = Field(None, description="this task's passes over its rows")
    batch: Batch | None = Field(None, description="this task's rows per update")
    lr: TaskRates = TaskRates()
    lm_coef: Weight | None = Field(None, description="this task's weight of the auxiliary LM loss")


class LayerGrid(Settings):
    """The numbers of transferred layers, none for nothing at all."""

    transformer: Layers = Field(
        ["none", *range(13)],
        description="a list such as [none, 0, 1, 2]: nothing, the embeddings alone, the lowest "
        "layers",
    )
    lstm: Layers = Field(["none", 0, 1], description="the same for the LSTM")


class GridOptions(Settings):
    """The cells: every combination of architecture, task, aux and layers."""

    arch: Annotated[list[Arch], Field(min_length=1), unique] = Field(
        ["transformer", "lstm"], description="a list of transformer and lstm"
    )
    aux: Annotated[list[Aux], Field(min_length=1), unique] = Field(
        ["on", "off"],
        description="a list of on and off, with and without the auxiliary LM loss",
    )
    intermediate_aux: Annotated[list[Aux], Field(min_length=1), unique] | None = Field(
        None,
        description="the settings of aux with which the cells between nothing and everything "
        "transferred are run (null: those of aux)",
    )
    layers: LayerGrid = LayerGrid()
    shuffled: bool = Field(
        False,
        description="whether the negative control is run: the transformer pre-trained on the same "
        "books with the words of each sentence shuffled, fine-tuned on every task",
    )


class ZeroShotOptions(Settings):
    """The zero-shot tasks and the values that normalise their scores."""

    limit: Count | None = Field(
        None, description="maximum number of rows scored per task (null: all)"
    )
    tasks: Annotated[dict[ZeroShotTaskName, DataSource], Field(min_length=1)] = Field(
        {name: DataSource() for name in ZERO_SHOT},
        description="the zero-shot tasks: {} for a task of experiment.tasks or for the task's own "
        "folder, else {folder: NAME} or {source: hub}",
    )
    normalise: dict[ZeroShotTaskName, ScoreRange] = Field(
        ZERO_SHOT,
        description="for each zero-shot task the scores that count as 0 and as 1, such as "
        "{random: 50, best: 93.2} (default: a random guess and the state of the art of 2018)",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_published_scores(cls, given: Any) -> Any:
        """Complete `normalise` for the tasks that are given."""
        if not isinstance(given, dict) or not given:
            return given
        tasks, stated = given.get("tasks", ZERO_SHOT), given.get("normalise", {})
        if not isinstance(tasks, dict) or not isinstance(stated, dict):
            return given
        scores = {name: ZERO_SHOT[name] for name in tasks if name in ZERO_SHOT}
        return {**given, "normalise": scores | stated}


class PerStage(Settings):
    """A limit of the two kinds of long jobs, and how far a further attempt raises it."""

    pretrain: Count = Field(description="of a pre-training job")
    finetune: Count = Field(description="of a fine-tuning or zero-shot job")
    max: Count | None = Field(
        None,
        description="the most that any job asks for: each further attempt asks for as much again, "
        "up to this (null: no limit)",
    )

    def of(self, stage: str, attempt: int) -> int:
        """What the jobs of a stage ask for in an attempt, the first being 1."""
        asked: int = attempt * getattr(self, stage)
        return asked if self.max is None else min(asked, self.max)


class Minutes(PerStage):
    """The time limits: of the long jobs, and of those that prepare the data."""

    data: Count = Field(
        60,
        description="of a job that prepares data: books, tokens, tokenizer, examples, "
        "contamination, imported weights, data cards",
    )


class Runtime(RuntimeOptions):
    """What may change the speed of a run, and its numbers by rounding or dropout masks at most."""

    pretrain_threads: Workers = Field(1, description="CPU threads of a pre-training job")
    pretrain_processes: Workers = Field(
        1,
        description="processes that pre-train one model together, each with pretrain_threads "
        "threads and, if device is cuda, a GPU of its own",
    )
    finetune_threads: Workers = Field(1, description="CPU threads of a fine-tuning job")
    gpu_model: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.]+\z")] | None = Field(
        None, description="kind of GPU that a job asks a cluster for, such as a100 (null: any)"
    )
    shards: Count = Field(
        1, description="number of jobs that the intermediate layers of a sweep are cut into"
    )
    mem_mb: PerStage = Field(
        PerStage(pretrain=1500, finetune=1500),
        description="memory that a job asks a cluster for, in MB",
    )
    minutes: Minutes = Field(
        Minutes(pretrain=60, finetune=30),
        description="time that a job asks a cluster for, in minutes; a partition must allow it, "
        "or the job waits for ever",
    )
