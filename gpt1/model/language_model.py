"""What the two language models share: embedding dropout, the tied softmax, transfer of layers.

Source: paper 3.1 and 3.2; the authors' released code for embedding-matrix dropout, the softmax
over all rows, the loss per sequence and the meaning of `n_transfer`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

N_SPECIAL = 3  # start, delimiter, classify


class LanguageModel(nn.Module):
    """Base of `Transformer` and `LSTM`: ids in, hidden states and LM logits out."""

    arch: str
    embed: nn.Parameter  # [rows, n_embd]; rows = BPE, three special ones, then any positions
    n_layer: int
    n_hidden: int  # width of the hidden states, in and out of the classifier

    def __init__(self, n_vocab: int, n_ctx: int, embd_dropout: str, lm_softmax: str):
        super().__init__()
        if embd_dropout not in ("matrix", "sum"):
            raise ValueError(f"embd_dropout {embd_dropout!r}: give matrix or sum")
        if lm_softmax not in ("all_rows", "tokens_only"):
            raise ValueError(f"lm_softmax {lm_softmax!r}: give all_rows or tokens_only")
        self.n_vocab, self.n_ctx = n_vocab, n_ctx
        self.embd_dropout, self.lm_softmax = embd_dropout, lm_softmax
        self.n_rows = n_vocab + N_SPECIAL
        self.rates: dict[str, float] = {}  # dropout rates embd, attn, resid; set by the trainers

    @property
    def start_id(self) -> int:
        """Row of the start token; delimiter and classify follow it."""
        return self.n_vocab

    @property
    def delimiter_id(self) -> int:
        """Row of the delimiter token."""
        return self.n_vocab + 1

    @property
    def classify_id(self) -> int:
        """Row of the classify token, whose hidden state feeds the classifier."""
        return self.n_vocab + 2

    def step_embedding(self) -> Tensor:
        """The embedding matrix of one step `[rows, n_embd]`.

        With `embd_dropout: matrix` (authors' code) dropout falls on the matrix itself, so that one
        mask hits every occurrence of a token and the tied softmax alike.
        """
        if self.training and self.embd_dropout == "matrix":
            return F.dropout(self.embed, self.rates.get("embd", 0.0))
        return self.embed

    def lm_logits(self, hidden: Tensor, we: Tensor, rows: int | None = None) -> Tensor:
        """Hidden states `[..., n_hidden]` to logits `[..., rows]`, tied and without bias.

        `rows` None takes what `lm_softmax` says: every row of the matrix, positions included
        (authors' code), or tokens and special rows only. Zero-shot scoring gives `n_vocab`.
        """
        if rows is None:
            rows = we.size(0) if self.lm_softmax == "all_rows" else self.n_rows
        return self.lm_features(hidden) @ we[:rows].T

    def lm_loss(self, hidden: Tensor, ids: Tensor, lengths: Tensor, we: Tensor) -> Tensor:
        """Mean over the sequences of each sequence's mean next-token loss, in nats.

        hidden `[n, time, n_hidden]`, ids `[n, time]`, lengths `[n]` (special tokens counted).
        Every real token but the first is a target, delimiter and classify among them; pads are
        not, and only real positions meet the softmax.
        """
        steps = torch.arange(1, ids.size(1), device=ids.device)
        real = steps < lengths[:, None]
        logits = self.lm_logits(hidden[:, :-1][real], we)
        loss = F.cross_entropy(
            logits.float() if logits.dtype.itemsize < 4 else logits,
            ids[:, 1:][real],
            reduction="none",
        )
        weight = (1.0 / ((lengths - 1).clamp(min=1) * len(lengths)).to(loss.dtype))[:, None]
        return (loss * weight.expand_as(real)[real]).sum()

    @torch.no_grad()
    def transfer(self, source: dict[str, Tensor], n_transfer: int) -> list[str]:
        """Copy the embeddings and the lowest `n_transfer` layers of `source` into this model.

        -1 copies nothing; 0 the embeddings (BPE and position rows; the special rows stay fresh);
        k the embeddings and k layers. All else keeps its own initial values. Returns the names of
        the copied tensors (authors' code: `1 + 12 k` arrays for the transformer). Raises
        `ValueError` for a number of layers that does not exist or a tensor that does not fit.
        """
        if not -1 <= n_transfer <= self.n_layer:
            raise ValueError(f"n_transfer {n_transfer}: the {self.arch} has {self.n_layer} layers")
        own = dict(self.named_parameters())
        for name, tensor in own.items():
            if name not in source:
                raise ValueError(f"{name}: not in the source checkpoint")
            if source[name].shape != tensor.shape:
                found, expected = list(source[name].shape), list(tensor.shape)
                raise ValueError(f"{name}: shape {found} in the checkpoint, {expected} expected")
        if n_transfer < 0:
            return []
        rows = self.embedding_rows()
        self.embed[rows] = source["embed"].to(self.embed)[rows]
        names = [n for n in own if n.startswith(self.layer_prefixes(n_transfer))]
        for name in names:
            own[name].copy_(source[name])
        return ["embed", *names]

    def forward(self, ids: Tensor, we: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Token ids `[batch, time]` to hidden states `[batch, time, n_hidden]`.

        With `lengths` a model may leave out the work for pads, whose output nobody reads.
        """
        raise NotImplementedError

    def reset(self, generator: torch.Generator, init_std: float = 0.02) -> None:
        """Draw every parameter anew from `generator`."""
        raise NotImplementedError

    def lm_features(self, hidden: Tensor) -> Tensor:
        """Hidden states to the vectors of width n_embd that meet the tied embedding."""
        raise NotImplementedError

    def embedding_rows(self) -> Tensor:
        """Indices of the rows of `embed` that a transfer copies."""
        raise NotImplementedError

    def layer_prefixes(self, n_transfer: int) -> tuple[str, ...]:
        """Name prefixes of the parameters that belong to the lowest `n_transfer` layers."""
        raise NotImplementedError
