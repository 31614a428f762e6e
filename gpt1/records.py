"""The JSON files that the programs write for each other and for the analysis.

Those of the tasks are in `tasks.examples` and `tasks.common.records`. Light on purpose: no torch,
no pandas.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from gpt1.cell import Arch, Corpus, NTransfer
from gpt1.settings import FinetuneSettings, ModelSettings, PretrainSettings
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tasks.common.records import REMEDY, Baselines, Counts, Record, Score, Scores
from tasks.spec import TaskSpec

Role = Literal["train", "select", "report", "unlabelled"]
Digests = dict[str, str]
N = 13  # words in a row that a contaminated example shares with the corpus
Made = Literal["rows", "books"]  # of a synthetic world
RuntimeValues = dict[str, str | bool | int | None]  # settings that change numbers, by name
# update-N.json, below ARCH/seed-K/ or, of zero-shot scores, ARCH/TASK/seed-K/
OF_PATH = (
    r"(?:\b(?P<arch>transformer|lstm)[^/]*/(?:(?P<task>\w+)/)?seed-(?P<seed>\d+)/)?"
    r"\bupdate-(?P<update>\d+)\.json$"
)


class TokenFile(Record):
    """A token file of a corpus, and the name, start and number of tokens of its documents.

    `source_bytes` is the size of their text as it was given, in UTF-8 and not yet normalised.
    """

    file: str
    tokens: int
    source_bytes: int
    sha256: str
    documents: list[dict[str, str | int]] = []  # empty for shuffled sentences


class CorpusFacts(Record):
    """`corpus/corpus.json`; `tokenizer` and `documents` are digests."""

    splits: dict[str, TokenFile]
    tokenizer: str
    n_vocab: int
    corpus: Corpus
    documents: str
    made: bool = False  # of a synthetic world


class Origin(Record):
    """The checkpoint behind a record; `tokens` is how many its updates saw (None: unknown).

    Published weights count as seed 0. A record that does not fit its path is not read.
    """

    arch: Arch
    seed: int = 0
    corpus: Corpus = "books"
    update: int = 0
    tokens: int | None = None

    @classmethod
    def read(cls, path: Path, remedy: str = REMEDY, **of_path: Any) -> Self:
        """As `Record.read`, with what a path in a folder of results determines."""
        found = re.search(OF_PATH, path.as_posix())
        said = {key: value for key, value in found.groupdict().items() if value} if found else {}
        said = {key: int(value) if value.isdigit() else value for key, value in said.items()}
        own = {key: value for key, value in said.items() if key in cls.model_fields}
        return super().read(path, remedy, **{**own, **of_path})

    def origin(self) -> dict[str, Any]:
        """These fields alone."""
        return self.model_dump(include={*Origin.model_fields})


class CheckpointFacts(Origin):
    """`pretrain/ARCH/seed-K/update-N.json`, beside the checkpoint; losses are in nats per token.

    `tokenizer`, `sha256` (of the checkpoint), `code` and `corpus_sha256` are digests. How published
    weights were trained is not known.
    """

    model: ModelSettings
    n_vocab: int
    tokenizer: str
    sha256: str
    code: str = ""
    versions: dict[str, str] = {}
    settings: PretrainSettings | None = None
    corpus_sha256: Digests = {}
    runtime: RuntimeValues = {}
    parameters: int | None = None
    train_loss: float | None = None  # None before the first update
    heldout_loss: float | None = None
    heldout_perplexity: float | None = None
    heldout_bits_per_byte: float | None = None  # of the text as it was given
    heldout_tokens: int | None = None
    seconds: float | None = None
    peak_mb: float | None = None
    cpu: str = ""
    made: bool = False  # trained on the books of a synthetic world
    source: dict[str, str | Digests] = {}  # of published weights: their format and files
    released_values: int | None = None
    special_seed: int | None = None  # seed that drew the special tokens of published weights
    permuted_from: str | None = None  # of permuted embeddings: the digest of the original
    permuted_rows: int | None = None


class VectorsFacts(Record):
    """`vectors/width-N.json`, beside word vectors; all but `n_vocab` and `width` are digests."""

    n_vocab: int
    width: int
    tokenizer: str
    sha256: str
    corpus_sha256: str
    code: str


class SplitFacts(Record):
    """Facts of an encoded split.

    `sha256` and `examples` are digests (`tasks.common.arrow.split_digest`) of the encoded split and
    of the split of examples it was made from. `lengths` counts the rows by the tokens of the whole
    input, `n_ctx_needed` by the smallest n_ctx that truncates nothing (`gpt1.data`).
    `unknown` is the share of the tokens that the vocabulary lacks.
    """

    role: Role
    rows: int
    sha256: str
    examples: str
    lengths: dict[int, int]
    n_ctx_needed: dict[int, int]
    unknown: float = 0.0  # of files made before it was counted


class EncodedFacts(Record):
    """`encoded/TASK.json`, beside the folder `TASK`; `tokenizer` is a digest.

    `own` is the JSON of `tasks.settings.OwnTask`, which training does not depend on.
    """

    spec: TaskSpec
    own: dict[str, Any] | None = None
    tokenizer: str
    n_vocab: int
    splits: dict[str, SplitFacts]
    made: bool = False  # rows of a synthetic world

    @property
    def mean_length(self) -> float:
        """Mean number of tokens of a training input."""
        rows = self.splits["train"].lengths
        return sum(length * n for length, n in rows.items()) / sum(rows.values())


class AnyRun(Record):
    """A fine-tuning run under one seed; losses in nats, times in seconds.

    `rows` is the number of rows of each split. `select_by_epoch` are the scores that chose the best
    weights, each with its epoch and update. `loss_*` are total losses and `clf_loss_*`
    classification losses, means over the first and the last updates; `label_entropy` is the lowest
    classification loss of a constant prediction.
    """

    seed: int
    scores: Scores
    rows: Counts
    train_tokens: int
    train_seconds: float
    select_by_epoch: list[dict[str, int | float]]
    best_epoch: int
    best_update: int
    loss_start: float
    loss_end: float
    clf_loss_start: float
    clf_loss_end: float
    label_entropy: float
    steps: int
    train_rows: int
    peak_mb: float
    cpu: str


class RunRecord(AnyRun):
    """A run in the cache of finished runs; `key` is everything that determines its result.

    `predictions` are those for the reported splits, in the order of the examples, with the
    `probabilities` of the classes or choices behind them; `constant` says whether any reported
    split has the same prediction for all rows. `truncated` is, by split, the share of examples that
    lost tokens; `copied` names the transferred tensors. The unlabelled splits of the digest
    `unlabelled`, if any, have predictions as well.
    """

    key: dict[str, Any] = {}
    unlabelled: str = ""
    predictions: dict[str, list[float]]
    probabilities: dict[str, list[list[float]]]
    constant: bool
    copied: list[str]
    truncated: dict[str, float]


class CellRun(AnyRun):
    """A run in the JSON of its cell; `checkpoint` is the digest of the one it started from.

    It is empty if nothing is transferred; `pretrain_seed` is then that of the language models from
    which the runs of other cells with the same seed start.
    """

    alarms: list[str]
    pretrain_seed: int
    checkpoint: str


class CellDigests(Record):
    """Digests of a cell's training inputs, and of the file of its predictions."""

    config: str
    tokenizer: str
    data: str
    code: str
    predictions: str


class CellRecord(Record):
    """`cells/VARIANT/TASK.json`; `copied` and `truncated` are those of the first seed's run."""

    variant: str
    task: str
    made: list[Made] = []
    own: dict[str, Any] | None = None  # as in `EncodedFacts`
    arch: Arch
    corpus: Corpus
    n_transfer: NTransfer
    lm_coef: float
    family: str
    metric: str
    copied: list[str]
    truncated: dict[str, float]
    baselines: Baselines
    seeds: list[CellRun]
    settings: FinetuneSettings  # of CellSettings, too, these alone are written
    digests: CellDigests
    runtime: RuntimeValues
    versions: dict[str, str]

    @classmethod
    def read(cls, path: Path, remedy: str = REMEDY, **of_path: Any) -> Self:
        """As `Record.read`; a cell of a version before 0.3.0, which has a `line`, is told so."""
        try:
            return super().read(path, remedy, **of_path)
        except InputError:
            given = read_json(path)
            if not isinstance(given, dict) or "line" not in given:
                raise
            why = "an earlier version wrote it"
            raise InputError(f"{path}: {why}; compare or read it with that version") from None


class ZeroShotScore(Origin):
    """`zero_shot/ARCH/TASK/seed-K/update-N.json`.

    `score` is the main metric on the main split, of `n` rows, by the paper's heuristic if it has
    one for the task, else by the prompt; `by_scoring` has it by every scoring. `relative` is 0 at
    `random` and 1 at `best`.
    """

    task: str
    split: str
    metric: str
    score: Score
    scores: Scores
    by_scoring: dict[str, Score]
    n: int
    threshold: float | None
    random: float
    best: float
    relative: float
    digests: Digests


class SkillScore(Record):
    """The score on the cloze items of one skill: `correct` of `n` items of `choices` continuations.

    `accuracy`, and `chance`, the accuracy of a random guess, run from 0 to 100. They count the best
    choices by the mean over its tokens, `accuracy_by_sum` by their sum. `margin` is that of the
    right choice over the best wrong one, by the mean (nats per token), on average over the items.
    """

    n: Annotated[int, Field(ge=1)]
    correct: Annotated[int, Field(ge=0)]
    choices: Annotated[int, Field(ge=2)]
    accuracy: Score
    accuracy_by_sum: Score
    chance: Score
    margin: float


class ClozeScores(Origin):
    """`cloze/MODEL/seed-K/update-N.json`."""

    skills: dict[str, SkillScore]
    digests: Digests


class SplitMarks(Record):
    """For each row, the words of its longest text, and of its run found in the corpus: 13 or 0."""

    words: list[int]
    match: list[int]


class Marks(Record):
    """`contamination/TASK.json`; `documents` and `examples` are digests of what was searched."""

    task: str
    documents: str
    examples: Digests
    splits: dict[str, SplitMarks]
