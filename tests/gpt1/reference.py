"""GPT-1 in float64 from the formulas alone: what the tests hold the package against.

Plain tensors and sums, one sequence at a time, so no batch, no pad and no mask can go wrong. It
shares no code with the package, only the names of the parameters. Gradients are autograd's.
Source: paper 3.1, 3.2, 3.3 and 4.1; the authors' code where the paper is silent.
"""

import math
from dataclasses import dataclass

import torch


def gelu(x):
    """The tanh form."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def layer_norm(x, gain, bias):
    """Biased variance, 1e-5 inside the root."""
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    return gain * centred / torch.sqrt(variance + 1e-5) + bias


def log_softmax(x):
    """Over the last axis."""
    shifted = x - x.max(-1, keepdim=True).values
    return shifted - torch.log(torch.exp(shifted).sum(-1, keepdim=True))


@dataclass
class Reference:
    """Parameters `p` by the package's names (the head's are `clf.*`), and the sizes around them.

    `masks` multiplies chosen places (dropout with known masks): `embd` the first layer's input,
    `h.{i}.attn` and `h.{i}.mlp` what the two projections of a block give, `h.{i}` what an LSTM
    gives, `clf` what the head reads.
    """

    p: dict
    n_vocab: int
    n_ctx: int
    n_layer: int
    n_head: int = 1
    arch: str = "transformer"
    lm_softmax: str = "all_rows"

    def __post_init__(self):
        self.p = {k: v.detach().double().clone().requires_grad_() for k, v in self.p.items()}
        self.masks = {}
        self.m = {k: torch.zeros_like(v) for k, v in self.p.items()}
        self.v = {k: torch.zeros_like(v) for k, v in self.p.items()}
        self.t = 0

    def hidden(self, ids):
        """Ids (a list) to the top states `[time, width]`."""
        return self.transformer(ids) if self.arch == "transformer" else self.lstm(ids)

    def transformer(self, ids):
        """Post-norm blocks over the sum of token row and position row."""
        we = self.p["embed"]
        x = self.mask("embd", we[ids] + we[self.n_vocab + 3 : self.n_vocab + 3 + len(ids)])
        for i in range(self.n_layer):
            n = self.norm(x + self.mask(f"h.{i}.attn", self.attention(x, f"h.{i}.attn.")), i, 1)
            c_fc = gelu(self.affine(n, f"h.{i}.mlp.c_fc"))
            x = self.norm(n + self.mask(f"h.{i}.mlp", self.affine(c_fc, f"h.{i}.mlp.c_proj")), i, 2)
        return x

    def attention(self, x, name):
        """Each head on its own; a position sees itself and what precedes it."""
        time, width = x.shape
        d = width // self.n_head
        qkv = self.affine(x, name + "c_attn")
        q, k, v = qkv[:, :width], qkv[:, width : 2 * width], qkv[:, 2 * width :]
        later = torch.tensor([[j > i for j in range(time)] for i in range(time)])
        heads = []
        for j in range(self.n_head):
            own = slice(j * d, (j + 1) * d)
            scores = q[:, own] @ k[:, own].T / math.sqrt(d)
            scores = torch.where(later, -math.inf, scores)
            heads.append(torch.exp(log_softmax(scores)) @ v[:, own])
        return self.affine(torch.cat(heads, 1), name + "c_proj")

    def affine(self, x, name):
        """y = x w + b with w stored [in, out]."""
        return x @ self.p[name + ".weight"] + self.p[name + ".bias"]

    def norm(self, x, layer, number):
        """The layer norm `number` of a block."""
        name = f"h.{layer}.ln_{number}."
        return layer_norm(x, self.p[name + "weight"], self.p[name + "bias"])

    def mask(self, name, x):
        """x times the known mask of that place, if there is one."""
        return x * self.masks[name] if name in self.masks else x

    def lstm(self, ids):
        """Unrolled cells from a zero state; gates in the order input, forget, cell, output."""
        x = self.mask("embd", self.p["embed"][ids])
        for i in range(self.n_layer):
            w, u, b, c = (
                self.p[f"h.{i}.{n}_l0"] for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            width = u.shape[1]
            h = cell = torch.zeros(width, dtype=torch.float64)
            out = []
            for step in x:
                gates = (w @ step + b + u @ h + c).split(width)
                sigma = [1 / (1 + torch.exp(-g)) for g in gates]
                cell = sigma[1] * cell + sigma[0] * torch.tanh(gates[2])
                h = sigma[3] * torch.tanh(cell)
                out.append(h)
            x = self.mask(f"h.{i}", torch.stack(out))
        return x

    def lm_logits(self, hidden):
        """Tied and without bias, over every row or over tokens and special rows only."""
        we = self.p["embed"]
        rows = we if self.lm_softmax == "all_rows" else we[: self.n_vocab + 3]
        if self.arch == "lstm":
            hidden = hidden @ self.p["proj.weight"].T + self.p["proj.bias"]
        return hidden @ rows.T

    def lm_loss(self, sequences):
        """Mean over the sequences of each one's mean over its targets: all tokens but the first."""
        return self.lm_mean([(ids, self.hidden(ids)) for ids in sequences])

    def lm_mean(self, pairs):
        """The LM loss of pairs of ids and top states."""
        total = 0.0
        for ids, hidden in pairs:
            log_p = log_softmax(self.lm_logits(hidden[:-1]))
            total = total - log_p[range(len(ids) - 1), ids[1:]].sum() / (len(ids) - 1)
        return total / len(pairs)

    def sequences(self, family, first, second, choices):
        """Raw ids of one example to its sequences (paper 3.3; authors' cut of n_ctx // 2 - 2)."""
        start, delimiter, classify = (self.n_vocab + i for i in range(3))
        side = self.n_ctx // 2 - 2

        def pair(a, b):
            return [start, *a[:side], delimiter, *b[:side], classify]

        if family == "classification":
            return [[start, *first[: self.n_ctx - 2], classify]]
        if family == "entailment":
            return [pair(first, second)]
        if family == "similarity":
            return [pair(first, second), pair(second, first)]
        if not second:
            return [pair(first, choice) for choice in choices]
        rows = []
        for choice in choices:
            question, answer = second[:side], choice[:side]
            room = self.n_ctx - 3 - len(question) - len(answer)
            rows.append([start, *first[:room], *question, delimiter, *answer, classify])
        return rows

    def logits(self, family, hidden):
        """One example's class logits from its sequences' top states, read at the classify token."""
        states = [h[-1] for h in hidden]
        if family == "similarity":
            states = [states[0] + states[1]]
        heads = [self.affine(self.mask("clf", h), "clf") for h in states]
        return torch.cat(heads) if family == "multiple_choice" else heads[0]

    def loss(self, family, examples, targets, lm_coef):
        """Classification plus lm_coef times LM (paper eq. 5, with the authors' means), and both.

        An example is its list of sequences; a target a class number or the classes' shares.
        """
        clf, pairs = 0.0, []
        for sequences, target in zip(examples, targets, strict=True):
            hidden = [self.hidden(ids) for ids in sequences]
            pairs += zip(sequences, hidden, strict=True)
            log_p = log_softmax(self.logits(family, hidden))
            if isinstance(target, list):
                target = torch.tensor(target, dtype=torch.float64)
                clf = clf - (target * log_p).sum() / len(examples)
            else:
                clf = clf - log_p[target] / len(examples)
        if lm_coef == 0:
            return clf, clf, None
        lm = self.lm_mean(pairs)
        return clf + lm_coef * lm, clf, lm

    def step(self, loss, lr, total, warmup, l2, max_grad_norm, cosine=False):
        """One update of the authors' Adam; returns the norm of the gradients before clipping.

        `clipped` then holds the gradients after it.
        The rate falls linearly (fine-tuning) or, with `cosine`, as in pre-training.
        """
        found = torch.autograd.grad(loss, list(self.p.values()), allow_unused=True)
        grads = {
            name: torch.zeros_like(p) if g is None else g
            for (name, p), g in zip(self.p.items(), found, strict=True)
        }
        norm = math.sqrt(sum(float((g**2).sum()) for g in grads.values()))
        scale = max_grad_norm / norm if norm > max_grad_norm > 0 else 1.0
        x = self.t / total
        up = x / warmup if x <= warmup else 1.0
        schedule = up * (1 - x)
        if cosine:
            schedule = up if x <= warmup else 0.5 * (1 + math.cos(math.pi * x))
        self.t += 1
        rate = lr * schedule * math.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        self.clipped = {name: g * scale for name, g in grads.items()}
        for name, g in self.clipped.items():
            self.m[name] = 0.9 * self.m[name] + 0.1 * g
            self.v[name] = 0.999 * self.v[name] + 0.001 * g**2
            p = self.p[name].detach()
            decay = l2 * p if p.ndim > 1 else 0.0
            step = self.m[name] / (torch.sqrt(self.v[name]) + 1e-8) + decay
            self.p[name] = (p - rate * step).requires_grad_()
        return norm


def soft_label(score):
    """STS-B: the shares of the six classes 0 to 5 of a score; its mean is the score."""
    low = int(score)
    shares = [0.0] * 6
    shares[low] = 1.0 - (score - low)
    if score > low:
        shares[low + 1] = score - low
    return shares
