"""Encode the examples of one task as token ids, once for all cells that train on them.

The result holds only the texts; training inserts the start, delimiter and classify tokens, since
their order depends on the task (paper 3.3). `datasets.load_from_disk` opens it.

    python -m gpt1 encode cola --examples results/examples/cola --tokenizer results/tokenizer \
        --out results/encoded/cola
"""

import argparse
import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpt1.data import KEPT_COLUMNS, input_lengths, n_ctx_needed, read_encoded
from gpt1.records import EncodedFacts, Role, SplitFacts
from gpt1.text.normalise import words
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.vocabulary import NEWLINE
from tasks import task as task_named
from tasks.common import hf_datasets
from tasks.common.arrow import read_split, split_digest, split_names
from tasks.common.errors import InputError
from tasks.common.records import facts_path
from tasks.examples import check_split, facts_of

if TYPE_CHECKING:
    from datasets import Dataset

ROLES: dict[str, Role] = {"train": "train", "select": "select"}  # of other splits: "report"
# The shares of unknown tokens above which a split is told of and refused.
WARN_ABOVE, REFUSE_ABOVE = 0.05, 0.5


def encode(task: str, examples: Path, tokenizer: Path, out: Path) -> None:
    """Encode the examples of `task` and write the folder `out` and its facts, `out`.json.

    Raises InputError, with nothing written, for examples that are damaged or not of `task`, for a
    labelled text that normalisation leaves empty, and for labelled rows most of whose tokens are
    unknown.
    """
    known, encoder = facts_of(task, examples), Tokenizer.load(tokenizer)
    own = known.settings.own
    spec = task_named(task, own).spec
    encoded: dict[str, Dataset] = {}
    described: dict[str, dict[str, Any]] = {}
    for split in split_names(examples):
        digest, named = check_split(examples, split, known), ROLES.get(split, "report")
        role: Role = "unlabelled" if split in known.unlabelled else named
        encoded[split], unknown = _encoded(examples, split, encoder, role != "unlabelled")
        described[split] = {"examples": digest, "role": role, "unknown": unknown}
    facts_path(out).unlink(missing_ok=True)  # so that facts never describe another folder
    hf_datasets.save(out, encoded)
    splits = {}
    for split, of_split in described.items():
        texts = read_encoded(out, split)
        splits[split] = SplitFacts(
            **of_split,
            rows=len(texts),
            sha256=split_digest(out, split),
            lengths=dict(Counter(input_lengths(spec.family, texts).tolist())),
            n_ctx_needed=dict(Counter(n_ctx_needed(spec.family, texts).tolist())),
        )
    facts = EncodedFacts(
        spec=spec,
        own=own.model_dump(mode="json") if own else None,
        tokenizer=encoder.digest,
        n_vocab=encoder.n_vocab,
        splits=splits,
        made=known.settings.is_made,
    )
    facts.write(facts_path(out))
    print(", ".join(f"{split} {of.rows:,}" for split, of in splits.items()), flush=True)


def encode_row(
    row: dict[str, Any], ids_of: Callable[[str], list[int]], source: str, labelled: bool = True
) -> dict[str, Any]:
    """The ids of a row's `first`, `second` and `choices`, as `ids_of` gives them for a text.

    Raises InputError, naming `source` and the row's guid, for a labelled row's text that becomes
    empty. An unlabelled row must be predicted, whatever is left of it.
    """

    def encode_text(column: str, text: str) -> list[int]:
        ids = ids_of(text)
        if text and not ids and labelled:  # a text that a task does not have stays empty
            raise InputError(
                f"{source}: {row['guid']}: normalisation leaves nothing of {column!r} "
                f"({text[:40]!r}); remove the row"
            )
        return ids

    columns = {column: encode_text(column, row[column]) for column in ("first", "second")}
    return {**columns, "choices": [encode_text("choices", text) for text in row["choices"]]}


def _encoded(
    examples: Path, split: str, encoder: Tokenizer, labelled: bool
) -> tuple["Dataset", float]:
    """A split with ids for texts, and the share of its tokens that the vocabulary lacks.

    A warning tells of more than a few. Raises InputError for labelled texts that become empty, and
    if most tokens of labelled rows are unknown; unlabelled rows must be predicted.
    """
    from datasets import Features, List, Value
    from pyarrow import compute

    rows = hf_datasets.library().Dataset(read_split(examples, split))
    source = f"{examples}/{split}"
    # Neighbouring examples share premises and documents.
    ids_of = functools.lru_cache(maxsize=256)(encoder.encode)
    ids = List(Value("int32"))
    label = Value(rows.features["label"].dtype)
    types = {"first": ids, "second": ids, "choices": List(ids), "label": label}
    encoded = rows.select_columns(list(KEPT_COLUMNS)).map(
        functools.partial(encode_row, ids_of=ids_of, source=source, labelled=labelled),
        features=Features({**rows.features, **types}),
        keep_in_memory=True,
        # The default hashes the function, tokenizer included; nothing reads it.
        new_fingerprint="encoded",
    )
    texts = (encoded.data.column(name) for name in ("first", "second", "choices"))
    flat = [compute.list_flatten(column, recursive=True).to_numpy() for column in texts]
    share = sum(int((of == 0).sum()) for of in flat) / max(1, sum(map(len, flat)))  # 0: unknown
    if share > WARN_ABOVE:
        example = _unknown_character(rows, encoder)
        fault = (
            f"{source}: {share:.0%} of the tokens are unknown to the tokenizer, such as {example!r}"
        )
        if share > REFUSE_ABOVE and labelled:
            raise InputError(
                f"{fault}; give books in the language of the rows (experiment.corpus), or a "
                "tokenizer that has its letters (experiment.tokenizer.folder)"
            )
        print(f"warning: {fault}", flush=True)
    return encoded, share


def _unknown_character(rows: "Dataset", encoder: Tokenizer) -> str:
    """The first character of the rows that the vocabulary lacks."""
    known = {*encoder.tokens, NEWLINE}
    texts = (text for row in rows for text in (row["first"], row["second"], *row["choices"]))
    characters = (char for text in texts for word in words(text) for char in word)
    return next((char for char in characters if char not in known), "")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("--examples", type=Path, required=True, help="folder of `tasks.prepare`")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of its two files")
    parser.add_argument("--out", type=Path, required=True, help="the folder; its facts: OUT.json")
    a = parser.parse_args()
    encode(a.task, a.examples, a.tokenizer, a.out)
