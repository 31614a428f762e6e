"""A plain padded PyTorch loop in the style of a good small GPT code base: `bench.plain WORK`.

The models have GPT-1's shape and mathematics (post-norm, tanh GELU, tied softmax) or the LSTM's,
built from PyTorch's own layers, `scaled_dot_product_attention`, AdamW and clipping, with the work's
dropout. Every choice and each order of a pair is a separate sequence.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.sides import Turns
from bench.work import Work, batches, read_rows
from gpt1.text.tokens import N_SPECIAL, open_tokens
from gpt1.training.runtime import Runtime


class Block(nn.Module):
    """A post-norm block."""

    def __init__(self, n_embd: int, n_head: int, n_ff: int, attn: float, resid: float):
        super().__init__()
        self.n_head, self.attn, self.drop = n_head, attn, nn.Dropout(resid)
        self.qkv, self.proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        gelu = nn.GELU(approximate="tanh")
        self.mlp = nn.Sequential(nn.Linear(n_embd, n_ff), gelu, nn.Linear(n_ff, n_embd))

    def forward(self, x: Tensor) -> Tensor:
        """`[n, time, n_embd]` to the same."""
        q, k, v = self.qkv(x).unflatten(2, (3, self.n_head, -1)).permute(2, 0, 3, 1, 4)
        rate = self.attn if self.training else 0.0
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        x = self.ln_1(x + self.drop(self.proj(a.transpose(1, 2).flatten(2))))
        return self.ln_2(x + self.drop(self.mlp(x)))


class GPT(nn.Module):
    """Tokens `[n, time]` to hidden states, and these to logits over the tokens."""

    def __init__(self, model: dict, n_vocab: int, dropout: dict, n_labels: int = 1):
        super().__init__()
        shape = model["shape"]
        width = shape["n_embd"]
        self.tokens = nn.Embedding(n_vocab + N_SPECIAL, width)
        self.positions = nn.Embedding(model["n_ctx"], width)
        self.drop = nn.Dropout(dropout["embd"])
        sizes = (width, shape["n_head"], shape["n_ff"], dropout["attn"], dropout["resid"])
        self.blocks = nn.Sequential(*(Block(*sizes) for _ in range(shape["n_layer"])))
        self.head = nn.Linear(width, n_labels)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Hidden states `[n, time, n_embd]`."""
        positions = torch.arange(ids.size(1), device=ids.device)
        return self.blocks(self.drop(self.tokens(ids) + self.positions(positions)))

    def logits(self, hidden: Tensor) -> Tensor:
        """The tied softmax."""
        return hidden @ self.tokens.weight.T


class LSTM(nn.Module):
    """The LSTM language model with `nn.LSTM`; it is called like `GPT`."""

    def __init__(self, model: dict, n_vocab: int, dropout: dict, n_labels: int = 1):
        super().__init__()
        shape = model["shape"]
        width, hidden = shape["n_embd"], shape["n_hidden"]
        self.tokens = nn.Embedding(n_vocab + N_SPECIAL, width)
        self.drop = nn.Dropout(dropout["embd"])
        self.lstm = nn.LSTM(width, hidden, shape["n_layer"], batch_first=True)
        self.proj, self.head = nn.Linear(hidden, width), nn.Linear(hidden, n_labels)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Hidden states `[n, time, n_hidden]`."""
        return self.lstm(self.drop(self.tokens(ids)))[0]

    def logits(self, hidden: Tensor) -> Tensor:
        """The tied softmax."""
        return self.proj(hidden) @ self.tokens.weight.T


class Loop:
    """One model, its AdamW and its data; the method for each kind of work does one update."""

    def __init__(self, work: Work, runtime: Runtime):
        self.work, self.device = work, runtime.device
        self.runtime = runtime.model_copy(update={"precision": work.precision})
        n_labels = 1 if work.family == "multiple_choice" else work.n_labels
        kind = GPT if work.arch == "transformer" else LSTM
        model = kind(work.model, work.n_vocab, work.training["dropout"], n_labels)
        self.model: nn.Module = model.to(self.device)
        self.forward = torch.compile(self.model) if runtime.compile else self.model
        lr = work.training["lr"]
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=True)
        if work.kind == "pretrain":
            self.tokens, self.random = open_tokens(work.data, "train"), np.random.default_rng(0)
        else:
            self.rows = read_rows(work.data)
            self.order = batches(len(self.rows), work.batch)

    def pretrain(self) -> int:
        """Update on windows of a corpus; returns the number of tokens."""
        time = self.work.model["n_ctx"]
        starts = self.random.integers(0, len(self.tokens) - time + 1, self.work.batch)
        ids = self.tensor(np.stack([self.tokens[s : s + time] for s in starts]))
        with self.runtime.autocast():
            loss, _ = self.lm_loss(ids)
        self.update(loss)
        return ids.numel()

    def finetune(self) -> int:
        """Update on rows padded to the longest sequence or to `pad_to`; returns their number."""
        which = next(self.order)
        ids, lengths = map(self.tensor, self.rows.take(which))
        pad_to = min(self.work.pad_to, self.work.model["n_ctx"])
        ids = F.pad(ids, (0, max(0, pad_to - ids.size(2)))).flatten(0, 1)
        labels, ends = self.tensor(self.rows.labels[which]), lengths.flatten()
        real = torch.arange(ids.size(1), device=self.device) < ends[:, None]
        with self.runtime.autocast():
            lm, hidden = self.lm_loss(ids, real)
            last = hidden[torch.arange(len(ids)), ends - 1].view(*lengths.shape, -1)
            by_choice = self.work.family == "multiple_choice"
            logits = self.model.head(last).squeeze(2) if by_choice else self.model.head(last.sum(1))
            clf = F.cross_entropy(logits.float(), labels)
        self.update(clf + self.work.training["lm_coef"] * lm)
        return len(which)

    def tensor(self, array: np.ndarray) -> Tensor:
        """As int64, on the device."""
        return torch.from_numpy(array.astype(np.int64)).to(self.device)

    def lm_loss(self, ids: Tensor, real: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The LM loss over the real tokens, and the hidden states."""
        hidden = self.forward(ids)
        targets = ids[:, 1:] if real is None else ids[:, 1:].masked_fill(~real[:, 1:], -100)
        logits = self.model.logits(hidden[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten()), hidden

    def update(self, loss: Tensor) -> None:
        """Backward pass, clipping and AdamW."""
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        loss.item()


if __name__ == "__main__":
    given = Work.read(sys.argv[1])
    turns = Turns(given)
    turns.repeat(getattr(Loop(given, turns.runtime), given.kind), given.precision)
