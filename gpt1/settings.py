"""Typed settings of the models and of the programs that train and score them.

The defaults are the paper's (4.1) and, where it is silent, those of the authors' code. `*Options`
are the keys of a section of the config; `*Settings` are the input of one program: the options of
its stage with the values of one architecture. `RuntimeSettings` are separate because they change
only the speed and the rounding of a result (docs/fidelity.md names the two exceptions).
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from gpt1.cell import Arch, Corpus, NTransfer, needs_model
from tasks.common.settings import Commit, Count, DataPath, Settings, SplitName

Batch = Annotated[int, Field(ge=1, le=2**16)]
Workers = Annotated[int, Field(ge=1, le=2**14)]  # threads or processes
Width = Annotated[int, Field(ge=1, le=2**16)]
Depth = Annotated[int, Field(ge=1, le=2**10)]
Epochs = Annotated[int, Field(ge=1, le=10_000)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Rate = Annotated[float, Field(ge=0, lt=1)]
InitStd = Annotated[float, Field(ge=1e-9, le=100)]
Positive = Annotated[float, Field(gt=0)]
Percent = Annotated[float, Field(ge=0, le=100)]
Weight = Annotated[float, Field(ge=0, le=1000)]
Eps = Annotated[float, Field(ge=1e-38, le=1)]
CorpusName = Literal["bookcorpus", "bookcorpus_text", "wikitext103", "lm1b", "tinystories"]


class TransformerShape(Settings):
    """The transformer's shape; the paper's by default."""

    n_layer: Depth = 12
    """Number of blocks."""
    n_embd: Width = 768
    """Width of the hidden states; divisible by n_head."""
    n_head: Width = 12
    """Number of attention heads."""
    n_ff: Width = 3072
    """Width of the feed-forward layer."""

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.n_embd % self.n_head:
            raise ValueError(f"n_embd {self.n_embd} is not a multiple of n_head {self.n_head}")
        return self


class LSTMShape(Settings):
    """The LSTM's shape: one layer of 2048 units (paper 5); the embeddings' width is a choice."""

    n_layer: Depth = 1
    """Number of LSTM layers."""
    n_embd: Width = 768
    """Width of the embeddings."""
    n_hidden: Width = 2048
    """Number of LSTM units."""
    init_std: InitStd | None = None
    """Standard deviation of the LSTM's initial weights (null: that of the model)."""


class ModelOptions(Settings):
    """The options that both architectures share."""

    n_ctx: Annotated[int, Field(ge=8, le=2**20)] = 512
    """Longest sequence, in tokens."""
    init_std: InitStd = 0.02
    """Standard deviation of the initial weights."""
    embd_dropout: Literal["matrix", "sum"] = "matrix"
    """Where embedding dropout is applied; matrix is the authors' code."""
    lm_softmax: Literal["all_rows", "tokens_only"] = "all_rows"
    """Rows that the LM softmax covers; all_rows is the authors' code."""


class ModelSettings(ModelOptions):
    """Settings of one model; `shape` determines the architecture. GPT-1 by default."""

    shape: TransformerShape | LSTMShape = TransformerShape()

    @property
    def arch(self) -> Arch:
        """The architecture, by the kind of shape."""
        return "lstm" if isinstance(self.shape, LSTMShape) else "transformer"


def _check_norm(norm: float) -> float:
    if 0 < norm < 1e-6:
        raise ValueError("give 0 or at least 1e-6")
    return norm


class OptimizerSettings(Settings):
    """The authors' Adam, for pre-training and fine-tuning alike."""

    b1: Rate = 0.9
    """Decay rate of the first moment."""
    b2: Rate = 0.999
    """Decay rate of the second moment."""
    eps: Eps = 1e-8
    """Added to the root of the second moment."""
    l2: Weight = 0.01
    """Weight decay."""
    vector_l2: bool = False
    """Whether biases and gains decay as well."""
    max_grad_norm: Annotated[float, Field(ge=0, le=1e6), AfterValidator(_check_norm)] = 1.0
    """Clip the global gradient norm to this (0: never)."""


class Dropout(Settings):
    """Dropout rates of a language model; active in training mode only."""

    embd: Rate = 0.1
    """Dropout rate of the embeddings."""
    attn: Rate = 0.1
    """Dropout rate of the attention weights."""
    resid: Rate = 0.1
    """Dropout rate before each residual sum."""


class FinetuneDropout(Dropout):
    """Dropout rates of fine-tuning: the language model's and the classifier's."""

    clf: Rate = 0.1
    """Dropout rate before the classifier."""


class PretrainOptions(Settings):
    """How a language model is pre-trained."""

    updates: Count = 1_000_000
    """Number of updates."""
    warmup: Annotated[int, Field(ge=0, le=2**40)] = 2000
    """Updates of linear warm-up."""
    batch: Batch = 64
    """Windows of n_ctx tokens per update."""
    dropout: Dropout = Dropout()
    """Dropout rates of pre-training."""
    heldout_tokens: Count = 1_000_000
    """Held-out tokens that a checkpoint's perplexity is computed on."""


class PretrainSettings(PretrainOptions):
    """The settings of `gpt1.pretrain`: the options with the model and rate of one architecture."""

    seed: Seed = 0  # of weights, windows and dropout
    lr: Positive
    checkpoints: list[int]  # the updates after which a checkpoint is kept, the last one included
    model: ModelSettings
    optimizer: OptimizerSettings


class FinetuneOptions(Settings):
    """How a cell is fine-tuned on its task."""

    epochs: Epochs = 3
    """Passes over the training rows."""
    batch: Batch = 32
    """Rows per update."""
    warmup: Rate = 0.002
    """Warm-up as a fraction of all updates."""
    dropout: FinetuneDropout = FinetuneDropout()
    """Dropout rates of fine-tuning."""
    eval_train: Count = 2000
    """Training rows that the train score is computed on."""


class FinetuneMethod(Settings):
    """How a cell is fine-tuned beyond rates and sizes; the paper's method by default."""

    train_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the training rows that is used; they are drawn by the seed and repeated for as many
    updates as all rows would take."""
    read_layer: Annotated[int, Field(ge=0, le=2**10)] | Literal["top"] = "top"
    """The layer whose states the classifier reads (0: the embeddings); layers above it are left
    out."""
    frozen: bool = False
    """Whether only the classifier is trained."""


class FinetuneSettings(FinetuneOptions):
    """How a cell is trained on its task; with `lm_coef` 0 there is no auxiliary loss."""

    lr: Positive
    lm_coef: Weight = 0.5
    method: FinetuneMethod = FinetuneMethod()
    model: ModelSettings
    optimizer: OptimizerSettings


class CellSettings(FinetuneSettings):
    """The settings of one cell for `gpt1.finetune`."""

    n_transfer: NTransfer
    corpus: Corpus = "books"  # what its language model must have been trained on

    @property
    def needs_model(self) -> bool:
        """Whether anything of a language model is transferred."""
        return needs_model(self.n_transfer, self.corpus)


class JobSettings(Settings):
    """The settings of `gpt1.finetune`: those of variants, a job's and perhaps others, by name."""

    variants: dict[str, CellSettings]


class ScoreRange(Settings):
    """The scores that count as 0 and as 1 in the zero-shot figure."""

    random: Percent
    """Score of a random guess, 0 to 100."""
    best: Percent
    """Score of the state of the art, above random and up to 100."""

    def relative(self, score: float) -> float:
        """A score on the scale on which `random` is 0 and `best` is 1."""
        return (score - self.random) / (self.best - self.random)


class CorpusSettings(Settings):
    """The corpus: a folder of .txt books, or one of the corpora of the Hugging Face hub."""

    folder: DataPath | None = None
    """Folder of UTF-8 .txt books: under the data folder or, with the synthetic world, where the
    run starts."""
    shares: Annotated[dict[SplitName, Positive], Field(min_length=1)] | None = None
    """Weights of folders in folder, such as {novels: 3, news: 1}: as many books of each, held-out
    ones aside, as make up its share of the bytes (null: all books)."""
    source: CorpusName | None = None
    """In place of folder: a corpus of the Hugging Face hub."""
    revision: Commit | None = None
    """The commit of the hub's repository, 40 hexadecimal digits (default: the one that the suite
    pins)."""
    min_rows: dict[SplitName, Count] | None = None
    """If the files are a subset of the published ones, the minimum number of rows of a split, such
    as {train: 1000000}."""
    heldout: (
        Annotated[int, Field(ge=1)]
        | Annotated[list[SplitName], Field(min_length=1)]
        | Literal["official"]
    )
    """The documents that perplexity is measured on: a number of them (chosen by the digest of their
    names), a list of file names, or official, the publisher's own test or validation split."""


class RuntimeOptions(Settings):
    """Options that change a program's speed, and its numbers only by rounding or dropout masks."""

    device: Annotated[str, Field(pattern=r"^(cpu|mps|cuda(:[0-9]+)?)$")] = "cpu"
    """The device: cpu, cuda, cuda:0 or mps."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of the matrix products."""
    micro_batch: Batch | None = None
    """Examples in memory at once in training (null: the whole batch); each micro-batch draws its
    own dropout masks."""
    skip_pads: bool = False
    """Whether fine-tuning skips the computation of pads, which is faster on a CPU."""
    shared_prefix: bool = True
    """Whether the common beginning of an example's choices is computed only once (transformer)."""
    compile: bool = False
    """Whether torch.compile is used."""
    tensorboard: bool = False
    """Whether training writes TensorBoard event files as it goes: pre-training beside its log,
    fine-tuning to a folder beside the cell's JSON."""


class RuntimeSettings(RuntimeOptions):
    """The `--runtime` of a program that trains or scores."""

    threads: Workers = 1
