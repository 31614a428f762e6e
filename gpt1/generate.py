"""Continue and score texts with a pre-trained language model.

    python -m gpt1 generate results/pretrain/transformer/seed-0/update-3000.safetensors \
        --prompt "The story was" --tokens 40 --temperature 0.8 --top-k 20 --seed 1

A newline precedes the text, as in zero-shot scoring (`gpt1.training.scorer`), since there is no
start-of-text token. Each token is drawn given the last n_ctx tokens before it. Temperature 0 takes
the likeliest token.
"""

import argparse
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import torch
from pydantic import Field
from torch import Tensor

from gpt1.model.language_model import LanguageModel
from gpt1.settings import Count, Seed
from gpt1.streams import torch_seed
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.weights.checkpoint import load_checkpoint, read_facts
from tasks.common.errors import InputError
from tasks.common.settings import Settings


class Sampling(Settings):
    """How a text is continued; `top_k` None draws from all tokens."""

    tokens: Count = 40
    temperature: Annotated[float, Field(ge=0)] = 1.0
    top_k: Count | None = None
    seed: Seed = 0


@torch.no_grad()
def next_logits(model: LanguageModel, ids: list[int]) -> Tensor:
    """Logits `[n_vocab]` of the token that follows the last n_ctx of `ids`; text tokens only."""
    hidden, _ = model([ids[-model.n_ctx :]])
    return model.logits(hidden[0, -1], n_rows=model.n_vocab).double().cpu()


def draw(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    """A token drawn from logits `[n_vocab]`; the likeliest one at temperature 0."""
    if not sampling.temperature:
        return int(logits.argmax())
    values, ids = logits.topk(min(sampling.top_k or len(logits), len(logits)))
    shares = ((values - values[0]) / sampling.temperature).softmax(-1)
    return int(ids[torch.multinomial(shares, 1, generator=generator)])


def generate(model: LanguageModel, ids: list[int], sampling: Sampling) -> list[int]:
    """The tokens that continue `ids`, which must not be empty; a function of the seed."""
    seed = torch_seed("continuation of a text", sampling.seed)
    generator = torch.Generator().manual_seed(seed)
    text = list(ids)
    for _ in range(sampling.tokens):
        text.append(draw(next_logits(model, text), sampling, generator))
    return text[len(ids) :]


class TextModel:
    """The language model of a checkpoint and its tokenizer, ready to score and continue texts.

    `model` is the PyTorch module: token ids `[n, time]` to hidden states `[n, time, n_hidden]`.
    `tokenizer` is by default that of the run. Raises InputError for files that are missing or
    damaged, or that do not belong together.
    """

    def __init__(
        self, checkpoint: str | Path, tokenizer: str | Path | None = None, device: str = "cpu"
    ):
        checkpoint = Path(checkpoint)
        self.runtime = Runtime.parse(json.dumps({"device": device}))
        self.runtime.check_device()
        facts = read_facts(checkpoint)
        self.tokenizer = Tokenizer.load(tokenizer or tokenizer_folder(checkpoint))
        loaded = load_checkpoint(checkpoint, facts.arch, facts.model, self.tokenizer.digest)
        self.model = loaded.language_model(self.runtime)

    def score(self, texts: Sequence[str]) -> pd.DataFrame:
        """How likely each text is, one row per text.

        `tokens` counts its tokens, `log_probability` is that of all of them in nats, `perplexity`
        is exp(-log_probability / tokens). In a text that does not fit into n_ctx, each further half
        window is scored given the half before it. Raises InputError for anything but texts, and for
        a text without words.
        """
        if isinstance(texts, Mapping | pd.DataFrame):
            found = type(texts).__name__
            raise InputError(f"texts: found a {found}; give a list of texts, such as one column")
        scorer = Scorer(self.model, self.tokenizer.newline_id, self.runtime)
        n_ctx, windows, n_windows = self.model.n_ctx, [], []
        for i, text in enumerate([texts] if isinstance(texts, str) else texts, 1):
            if not isinstance(text, str):
                raise InputError(f"text {i}: found {text!r:.40}; give a text")
            ids = np.array(self.tokenizer.encode(text))
            if not len(ids):
                raise InputError(f"text {i}: found {text!r:.40}, which has no words; leave it out")
            starts = [0, *range(n_ctx - 1, len(ids), n_ctx // 2)]
            ends = [*starts[1:], len(ids)]
            for start, end in zip(starts, ends, strict=True):
                windows.append([scorer.sequence([ids[:start]], ids[start:end])])
            n_windows.append(len(starts))
        scores = (of_window for (of_window,) in scorer.log_probabilities(windows))
        values = [np.concatenate([*itertools.islice(scores, n)]) for n in n_windows]
        frame = pd.DataFrame(
            {
                "tokens": [len(of) for of in values],
                "log_probability": [float(of.sum(dtype=float)) for of in values],
            }
        )
        return frame.assign(perplexity=np.exp(-frame["log_probability"] / frame["tokens"]))

    def generate(self, text: str, **sampling: Any) -> str:
        """The text, as the tokenizer reads it (in lower case), and its continuation.

        `sampling` takes the fields of `Sampling`: tokens, temperature, top_k, seed. Raises
        InputError for an invalid one.
        """
        own, prompt = Sampling.parse(json.dumps(sampling)), self.tokenizer.encode(text)
        continuation = generate(self.model, [self.tokenizer.newline_id, *prompt], own)
        return self.tokenizer.decode([*prompt, *continuation])


def tokenizer_folder(checkpoint: Path) -> Path:
    """The tokenizer folder of a checkpoint's run: the nearest one in a folder above it.

    Raises InputError if there is none.
    """
    for folder in checkpoint.absolute().parents:
        if (folder / "tokenizer").is_dir():
            return folder / "tokenizer"
    raise InputError(
        f"{checkpoint}: no tokenizer beside its results; give its folder (--tokenizer, or "
        "gpt1.load(..., tokenizer=FOLDER))"
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path, help="update-N.safetensors of `gpt1.pretrain`")
    parser.add_argument("--prompt", required=True, help="the text to continue")
    parser.add_argument("--tokens", type=int, help="how many to add")
    parser.add_argument("--temperature", type=float, help="0: the likeliest token")
    parser.add_argument("--top-k", type=int, help="draw from the K likeliest tokens alone")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--tokenizer", type=Path, help="its folder (default: that of the run)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or mps")
    parser.set_defaults(**Sampling().model_dump())
    a = parser.parse_args()
    Runtime().start()
    sampling = {name: getattr(a, name) for name in Sampling.model_fields}
    print(TextModel(a.checkpoint, a.tokenizer, a.device).generate(a.prompt, **sampling))
