"""A checkpoint whose content words have exchanged their embeddings: a negative control.

    python -m gpt1 permute results/pretrain/transformer/seed-0/update-3000.safetensors \\
        --corpus results/corpus/corpus.json --out results/pretrain/transformer-permuted-...

Every layer is as it was pre-trained, but no content word means what it did: whatever fine-tuning
still gains from such a model is not knowledge of words. Making it takes no training.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from gpt1.records import CorpusFacts
from gpt1.settings import RuntimeSettings
from gpt1.streams import stream
from gpt1.text.tokens import open_tokens
from gpt1.weights.checkpoint import Checkpoint, read_facts, read_tensors, save_checkpoint
from tasks.common.errors import InputError

CHUNK = 2**24  # tokens counted at a time


def content_tokens(counts: np.ndarray) -> np.ndarray:
    """The tokens, ascending, whose rows are exchanged; `counts` [n_vocab] are those in the books.

    The most frequent tokens, which together make up half of the books, are left out. These are
    punctuation and function words, found without a list (some hundred and thirty words make up half
    of an English text). Tokens that never occur are left out too, since their rows say nothing.
    """
    order = np.argsort(-counts, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    rarer = order[2 * before >= counts.sum()]
    return np.sort(rarer[counts[rarer] > 0])


def permute(checkpoint: Path, corpus: Path, out: Path, code: str = "") -> None:
    """Write `out`, the checkpoint with the rows of `content_tokens` in an order drawn by its seed.

    Raises InputError for a file that is damaged or missing, and for a corpus of another tokenizer.
    """
    facts = read_facts(checkpoint)
    if CorpusFacts.read(corpus).tokenizer != facts.tokenizer:
        raise InputError(f"{corpus}: of another tokenizer than {checkpoint}; give its own corpus")
    tokens = open_tokens(corpus, "train")
    counts = np.zeros(facts.n_vocab, dtype=np.int64)
    for start in range(0, len(tokens), CHUNK):
        counts += np.bincount(tokens[start : start + CHUNK], minlength=facts.n_vocab)
    rows = content_tokens(counts)
    order = stream("rows of the embedding", facts.seed).permutation(rows)
    model = Checkpoint(read_tensors(checkpoint), facts).language_model(RuntimeSettings())
    with torch.no_grad():
        model.embed[torch.from_numpy(rows)] = model.embed[torch.from_numpy(order)]
    same = facts.model_dump(include={"tokenizer", "update", "tokens", "seed", "made"})
    own = {"corpus": "permuted-embeddings", "code": code, "permuted_from": facts.sha256}
    save_checkpoint(out, model, **same, **own, permuted_rows=len(rows))
    print(f"{out}: {len(rows):,} of {facts.n_vocab:,} rows exchanged", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path, help="of a model of the books")
    parser.add_argument("--corpus", required=True, type=Path, help="corpus.json of these books")
    parser.add_argument("--code", default="", help="digest of the code, kept in the JSON")
    parser.add_argument("--out", required=True, type=Path, help="the checkpoint to write")
    args = parser.parse_args()
    permute(args.checkpoint, args.corpus, args.out, args.code)
