"""The base of both language models: embedding dropout, the tied softmax, transfer of layers.

Source: paper 3.1 and 3.2; the authors' released code for dropout on the embedding matrix, the
softmax over all rows, the loss per sequence and the meaning of `n_transfer`.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from torch import Tensor, nn

from gpt1.cell import Arch, NTransfer
from gpt1.model.fused import dropout, lm_loss
from gpt1.model.layout import Array, Layout, LMTargets, layout_of
from gpt1.settings import Dropout, ModelSettings
from gpt1.text.tokens import N_SPECIAL

NO_DROPOUT = Dropout(embd=0.0, attn=0.0, resid=0.0)


class LanguageModel(nn.Module):
    """Base of the language models: token ids to hidden states and the LM loss.

    The parameters are uninitialised until `reset` draws them or saved ones are loaded. Dropout is
    applied in training mode only. With `skip_pads`, nothing is computed for pads.
    """

    arch: Arch
    embed: nn.Parameter  # [rows, n_embd]; rows = BPE tokens, three special tokens, positions if any
    h: nn.ModuleList  # the layers
    n_layer: int
    n_hidden: int  # width of the hidden states
    can_share_prefix = False  # whether `trunk` takes layouts whose sequences share a prefix

    def __init__(
        self,
        n_vocab: int,
        settings: ModelSettings,
        dropout: Dropout = NO_DROPOUT,
        skip_pads: bool = False,
    ):
        super().__init__()
        self.n_vocab, self.n_ctx = n_vocab, settings.n_ctx
        self.n_rows = n_vocab + N_SPECIAL
        self.settings, self.dropout, self.skip_pads = settings, dropout, skip_pads
        self.compiled_trunk: Callable[[Layout, Tensor], Tensor] | None = None
        self.add_layers()

    def add_layers(self) -> None:
        """Create `embed`, `h` and any other parameters, as the settings' shape requires."""
        raise NotImplementedError

    def forward(
        self, ids: ArrayLike, lengths: ArrayLike | None = None, with_lm_loss: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Hidden states and, if requested, the LM loss in nats (else None).

        Takes ids `[n, time]` and lengths `[n]` (special tokens included; None: no pads), in any
        form that NumPy accepts. The hidden states are `[n, time, n_hidden]`, without meaning at
        pads. The loss is the mean over the sequences of each sequence's mean over its targets.
        """
        ids = np.asarray(ids)
        lengths = np.full(len(ids), ids.shape[1]) if lengths is None else np.asarray(lengths)
        batch = self.lay_out(ids[:, None], lengths[:, None], with_targets=with_lm_loss)
        hidden, loss = self.states(batch)
        return batch.pad(hidden), loss

    def lay_out(self, ids: Array, lengths: Array, **options: bool) -> Layout:
        """The layout of examples, ids `[n, S, time]` and lengths `[n, S]`, on this model's device.

        The options are `shared_prefix` and `with_targets`; `states` returns an LM loss only with
        the latter.
        """
        return layout_of(ids, lengths, self.embed, skip_pads=self.skip_pads, **options)

    def states(self, batch: Layout) -> tuple[Tensor, Tensor | None]:
        """Hidden states `[positions, n_hidden]` of a layout, and the LM loss if it has targets."""
        we = self.embedding_matrix()
        hidden = (self.compiled_trunk or self.trunk)(batch, we)
        return hidden, self.lm_loss(hidden, batch.targets, we) if batch.targets else None

    def embedding_matrix(self) -> Tensor:
        """The embedding matrix `[rows, n_embd]` of one forward pass.

        With `embd_dropout: matrix` (authors' code), dropout is applied to the matrix itself, so the
        same mask affects every occurrence of a token and the tied softmax.
        """
        on_matrix = self.training and self.settings.embd_dropout == "matrix"
        return dropout(self.embed, self.dropout.embd) if on_matrix else self.embed

    def input_dropout(self, x: Tensor) -> Tensor:
        """The input of the first layer; with `embd_dropout: sum`, dropout is applied here."""
        on_sum = self.training and self.settings.embd_dropout == "sum"
        return F.dropout(x, self.dropout.embd) if on_sum else x

    def logits(self, hidden: Tensor, n_rows: int | None = None) -> Tensor:
        """Logits `[..., n_rows]` of hidden states `[..., n_hidden]`: the LM head.

        It is tied to the embedding matrix (without dropout) and has no bias. If `n_rows` is None,
        `lm_softmax` decides: every row of the matrix, positions included (authors' code), or tokens
        and special tokens only. Zero-shot scoring passes `n_vocab`.
        """
        return self.lm_features(hidden) @ self.embed[: n_rows or self.n_softmax].T

    @property
    def n_softmax(self) -> int:
        """Number of rows of the embedding matrix that the LM softmax covers."""
        return len(self.embed) if self.settings.lm_softmax == "all_rows" else self.n_rows

    def lm_loss(self, hidden: Tensor, targets: LMTargets, we: Tensor) -> Tensor:
        """The weighted sum of the targets' cross-entropies, in nats.

        Every real token but the first is a target, including delimiter and classify; pads are not.
        Only states that predict a target enter the softmax.
        """
        features = self.lm_features(hidden[targets.state])
        return lm_loss(features, we[: self.n_softmax], targets.token, targets.weight)

    @torch.no_grad()
    def transfer(self, source: dict[str, Tensor], n_transfer: NTransfer) -> list[str]:
        """Copy the embeddings and the lowest `n_transfer` layers of `source` into this model.

        "none" copies nothing; 0 the embeddings (BPE and position rows; special tokens stay fresh);
        k the embeddings and the lowest k layers. All else keeps its initial values. The LSTM's
        output map counts as part of the top layer, whose states it reads. Returns the names of the
        copied tensors (authors' code, where "none" is -1: `1 + 12 k` arrays for the transformer).
        Raises ValueError for a number of layers that does not exist.
        """
        if n_transfer == "none":
            return []
        if not 0 <= n_transfer <= self.n_layer:
            raise ValueError(f"n_transfer {n_transfer}: the {self.arch} has {self.n_layer} layers")
        own = dict(self.named_parameters())
        special = slice(self.n_vocab, self.n_rows)
        fresh = self.embed[special].clone()
        prefixes = [f"h.{i}." for i in range(n_transfer)]
        if n_transfer == self.n_layer:
            prefixes.append("proj.")
        names = ["embed", *(name for name in own if name.startswith(tuple(prefixes)))]
        for name in names:  # embeddings without position rows fill only the rows they have
            own[name][: len(source[name])].copy_(source[name])
        self.embed[special] = fresh
        return names

    def cut(self, n_layer: int) -> None:
        """Keep only the lowest `n_layer` layers; the hidden states are then their output."""
        self.h, self.n_layer = self.h[:n_layer], n_layer

    @property
    def init_std(self) -> float:
        """The standard deviation of the initial matrices."""
        return self.settings.init_std

    def reset(self, generator: torch.Generator) -> None:
        """Draw matrices from N(0, init_std); gains are 1, biases 0 (paper 4.1; authors' code)."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=self.init_std, generator=generator)
            else:
                is_gain = name.endswith((".ln_1.weight", ".ln_2.weight"))
                nn.init.constant_(parameter, 1.0 if is_gain else 0.0)

    def compile_trunk(self) -> None:
        """Use `torch.compile` for everything but the LM head.

        The head's input has one row per target, so each new number of targets would recompile it.
        """
        self.compiled_trunk = torch.compile(self.trunk)

    def trunk(self, batch: Layout, we: Tensor) -> Tensor:
        """Map a layout and the embedding matrix to hidden states `[positions, n_hidden]`."""
        raise NotImplementedError

    def lm_features(self, hidden: Tensor) -> Tensor:
        """Map hidden states `[..., n_hidden]` to the tied softmax's input `[..., n_embd]`."""
        return hidden
