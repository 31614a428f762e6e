"""A plain padded PyTorch loop in the style of a good small GPT code base: the other baseline.

python -m bench.plain pretrain JOB      the transformer or LSTM on windows of a corpus
python -m bench.plain finetune JOB      every sequence padded to the longest, or to pad_to
python -m bench.plain zero_shot JOB     one sequence per choice, one item after another

The model has GPT-1's shape and mathematics (post-norm, tanh GELU, tied softmax) by PyTorch's own
layers, `scaled_dot_product_attention`, AdamW and clipping. It has dropout where the job has.
"""

import contextlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.job import Job, Rows
from bench.rows import Batches, corpus_tokens
from bench.turns import Turns

SPECIAL = 3


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
    """Tokens `[n, time]` to hidden states and to logits over the tokens."""

    def __init__(self, model: dict, n_vocab: int, dropout: dict, n_labels: int = 1):
        super().__init__()
        shape = model["shape"]
        width = shape["n_embd"]
        self.tokens = nn.Embedding(n_vocab + SPECIAL, width)
        self.places = nn.Embedding(model["n_ctx"], width)
        self.drop = nn.Dropout(dropout["embd"])
        sizes = (width, shape["n_head"], shape["n_ff"], dropout["attn"], dropout["resid"])
        self.blocks = nn.Sequential(*(Block(*sizes) for _ in range(shape["n_layer"])))
        self.head = nn.Linear(width, n_labels)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Hidden states `[n, time, n_embd]`."""
        places = torch.arange(ids.size(1), device=ids.device)
        return self.blocks(self.drop(self.tokens(ids) + self.places(places)))

    def logits(self, hidden: Tensor) -> Tensor:
        """The tied softmax."""
        return hidden @ self.tokens.weight.T


class LSTM(nn.Module):
    """The LSTM language model with `nn.LSTM`; calls as of `GPT`."""

    def __init__(self, model: dict, n_vocab: int, dropout: dict, n_labels: int = 1):
        super().__init__()
        shape = model["shape"]
        width, hidden = shape["n_embd"], shape["n_hidden"]
        self.tokens, self.drop = nn.Embedding(n_vocab + SPECIAL, width), nn.Dropout(dropout["embd"])
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
    """One model, its AdamW and its device."""

    def __init__(self, job: Job, rows: Rows):
        self.job, self.device = job, job.runtime.get("device", "cpu")
        n_labels = 1 if rows.family == "multiple_choice" else rows.n_labels
        dropout = job.training.get("dropout", {"embd": 0.0, "attn": 0.0, "resid": 0.0})
        kind = GPT if rows.arch == "transformer" else LSTM
        model = kind(job.models[rows.arch], job.n_vocab, dropout, n_labels).to(self.device)
        self.model: nn.Module = model
        self.compiled = torch.compile(model) if job.runtime.get("compile") else model
        lr = job.training.get("lr", 1e-3)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=True)

    def autocast(self) -> contextlib.AbstractContextManager:
        """bfloat16 where the job asks for it."""
        if self.job.runtime.get("precision") != "bfloat16":
            return contextlib.nullcontext()
        onednn = torch.backends.mkldnn
        if onednn.is_available() and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            # Its LSTM raises an error without AVX-512.
            onednn.enabled = False  # type: ignore[assignment]
        return torch.autocast(self.device.split(":")[0], dtype=torch.bfloat16)

    def lm_loss(self, ids: Tensor, real: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The LM loss over the real tokens, and the hidden states."""
        hidden = self.compiled(ids)
        targets = ids[:, 1:] if real is None else ids[:, 1:].masked_fill(~real[:, 1:], -100)
        logits = self.model.logits(hidden[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten()), hidden

    def step(self, loss: Tensor) -> None:
        """Backward pass, clipping and AdamW."""
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        loss.item()


def pretrain(job: Job, turns: Turns) -> None:
    """Updates of pre-training, in tokens."""
    for rows in turns.each(job.rows):
        loop, tokens = Loop(job, rows), corpus_tokens(rows.file)
        n_ctx, batch = job.models[rows.arch]["n_ctx"], job.training["batch"]
        random = np.random.default_rng(0)

        def update(loop=loop, tokens=tokens, n_ctx=n_ctx, batch=batch, random=random) -> int:
            starts = random.integers(0, len(tokens) - n_ctx + 1, batch)
            ids = torch.from_numpy(np.stack([tokens[s : s + n_ctx] for s in starts]).astype("i8"))
            with loop.autocast():
                loss, _ = loop.lm_loss(ids.to(loop.device))
            loop.step(loss)
            return ids.numel()

        _repeat(update, job, turns)


def finetune(job: Job, turns: Turns) -> None:
    """Updates of fine-tuning, in rows; every choice and both orders are sequences of their own."""
    for rows in turns.each(job.rows):
        loop, arrays = Loop(job, rows), np.load(rows.file)
        batches = Batches(len(arrays["ids"]), job.training["batch"])

        def update(loop=loop, arrays=arrays, batches=batches, rows=rows) -> int:
            which = batches.next()
            lengths = torch.from_numpy(arrays["lengths"][which].astype("i8")).to(loop.device)
            longest = int(lengths.max())
            ids = torch.from_numpy(arrays["ids"][which][:, :, :longest].astype("i8"))
            ids = F.pad(ids, (0, max(0, (job.pad_to or 0) - longest))).to(loop.device)
            time = ids.size(2)
            labels = torch.from_numpy(arrays["labels"][which].astype("i8")).to(loop.device)
            n, s = lengths.shape
            flat, ends = ids.flatten(0, 1), lengths.flatten()
            with loop.autocast():
                real = torch.arange(time, device=loop.device) < ends[:, None]
                lm, hidden = loop.lm_loss(flat, real)
                last = hidden[torch.arange(n * s, device=loop.device), ends - 1].view(n, s, -1)
                if rows.family == "multiple_choice":
                    logits = loop.model.head(last).squeeze(2)
                else:
                    logits = loop.model.head(last.sum(1))
                loss = F.cross_entropy(logits.float(), labels) + job.training["lm_coef"] * lm
            loop.step(loss)
            return n

        _repeat(update, job, turns)


@torch.no_grad()
def zero_shot(job: Job, turns: Turns) -> None:
    """Mean log-probability of every choice after document and question, an item at a time."""
    for rows in turns.each(job.rows):
        loop, arrays = Loop(job, rows), np.load(rows.file)
        loop.model.eval()
        batches = Batches(len(arrays["first"]), job.training["batch"])

        def score(loop=loop, arrays=arrays, batches=batches) -> int:
            which = batches.next()
            for i in which:
                context, choices = (
                    np.append(arrays["first"][i], arrays["second"][i]),
                    arrays["choices"],
                )
                ids = torch.from_numpy(np.stack([np.append(context, c) for c in choices[i]]))
                with loop.autocast():
                    hidden = loop.model(ids.long())[:, len(context) - 1 : -1]
                    logits = loop.model.logits(hidden).float().log_softmax(-1)
                logits.gather(2, ids[:, len(context) :, None].long()).mean((1, 2)).argmax().item()
            return len(which)

        _repeat(score, job, turns)


def _repeat(update, job: Job, turns: Turns) -> None:
    turns.take(job, lambda steps: sum(update() for _ in range(steps)))


def main() -> None:
    """The command line."""
    kind, path = sys.argv[1:]
    job, turns = Job.read(path), Turns()
    torch.set_num_threads(job.runtime.get("threads", 1))
    {"finetune": finetune, "pretrain": pretrain, "zero_shot": zero_shot}[kind](job, turns)


if __name__ == "__main__":
    main()
