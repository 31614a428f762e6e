"""Floating-point operations of training, by one rule, and how many of them a GPU does at best.

Per token 6 N + 12 L d T. N is the number of parameters that each token is multiplied by (blocks,
projections and, with an LM loss, the rows of the softmax, but no look-up of embeddings or
positions). The second term is the transformer's attention over T tokens; causality does not lower
it and recomputation does not raise it. A forward pass is a third. The rule counts what the
mathematics asks for: padding costs nothing, and a prefix that choices share counts once for each
choice. Source: Kaplan et al. 2020 and nanoGPT's `estimate_mfu`.
"""

import re

from gpt1.settings import ModelSettings, TransformerShape
from gpt1.text.tokens import N_SPECIAL

# Peak dense bfloat16 FLOP/s from the vendors' data sheets, the denominator of MFU, by words of a
# card's name, the more specific ones first.
PEAKS = {
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100 NVL": 835e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L40": 181e12,
    "L4": 121e12,
    "A10G": 70e12,
    "A10": 125e12,
}


def per_token(model: ModelSettings, n_vocab: int, time: float, lm_loss: bool = True) -> float:
    """Training FLOPs per token in sequences of `time` tokens, forward and backward."""
    shape = model.shape
    softmax = (n_vocab + N_SPECIAL) * shape.n_embd if lm_loss else 0
    if isinstance(shape, TransformerShape):
        block = 4 * shape.n_embd**2 + 2 * shape.n_embd * shape.n_ff
        if lm_loss and model.lm_softmax == "all_rows":
            softmax += model.n_ctx * shape.n_embd
        attention = 12 * shape.n_layer * shape.n_embd * time
        return 6 * (shape.n_layer * block + softmax) + attention
    widths = [shape.n_embd] + [shape.n_hidden] * (shape.n_layer - 1)
    gates = sum(4 * shape.n_hidden * (width + shape.n_hidden) for width in widths)
    projection = shape.n_hidden * shape.n_embd if lm_loss else 0
    return 6 * (gates + projection + softmax)


def peak(device: str) -> float | None:
    """The peak dense bfloat16 FLOP/s of a card by its name; None for an unknown card."""
    return next((PEAKS[name] for name in PEAKS if re.search(rf"\b{name}\b", device, re.I)), None)
