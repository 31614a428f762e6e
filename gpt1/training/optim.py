"""The authors' Adam and learning-rate schedules, to the letter.

Not `torch.optim.AdamW`: the decay is decoupled but multiplied by the bias-corrected rate, eps is
added to the uncorrected root, clipping is global and comes before the moments, and the schedule
sees the number of updates already done, so that the first update changes nothing.
Source: paper 4.1; authors' released code for all that the paper leaves open.
"""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

Schedule = Callable[[float, float], float]


def warmup_linear(x: float, warmup: float) -> float:
    """Fine-tuning's factor at the fraction `x` of training: up over `warmup`, then (1 - x)."""
    return (x / warmup if x <= warmup and warmup > 0 else 1.0) * (1.0 - x)


def warmup_cosine(x: float, warmup: float) -> float:
    """Pre-training's factor at `x`: linear up over `warmup`, then a half cosine, not re-based."""
    if x <= warmup and warmup > 0:
        return x / warmup
    return 0.5 * (1.0 + math.cos(math.pi * x))


class Adam:
    """One flat buffer of parameters, gradients and moments, updated as the authors' code does.

    Matrices decay by `l2`; vectors (biases, gains) only with `vector_l2`. The parameters become
    views of the flat buffer, so a step is a handful of operations whatever the number of tensors.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float,
        schedule: Schedule,
        warmup: float,
        total: int,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        l2: float = 0.01,
        vector_l2: bool = False,
        max_grad_norm: float = 1.0,
    ):
        ordered = sorted(parameters, key=lambda p: p.ndim <= 1)  # matrices first, order kept
        self.lr, self.schedule, self.warmup, self.total = lr, schedule, warmup, total
        self.b1, self.b2, self.eps, self.l2 = b1, b2, eps, l2
        self.max_grad_norm = max_grad_norm
        self.updates = 0
        self.flat = torch.cat([p.detach().reshape(-1) for p in ordered])
        self.grad, self.m, self.v = (torch.zeros_like(self.flat) for _ in range(3))
        decayed = ordered if vector_l2 else [p for p in ordered if p.ndim > 1]
        self.n_decayed = sum(p.numel() for p in decayed)
        start = 0
        for parameter in ordered:
            end = start + parameter.numel()
            parameter.data = self.flat[start:end].view(parameter.shape)
            parameter.grad = self.grad[start:end].view(parameter.shape)
            start = end

    def zero_grad(self) -> None:
        """Set every gradient to zero, in place: the gradients stay views of the flat buffer."""
        self.grad.zero_()

    def rate(self) -> float:
        """Learning rate of the next update, without Adam's bias correction."""
        return self.lr * self.schedule(self.updates / self.total, self.warmup)

    @torch.no_grad()
    def step(self) -> Tensor:
        """Clip, update the moments and the parameters; returns the norm before clipping."""
        norm = self.grad.norm()
        if self.max_grad_norm > 0:
            self.grad.mul_((self.max_grad_norm / norm.clamp(min=1e-30)).clamp(max=1.0))
        self.m.mul_(self.b1).add_(self.grad, alpha=1 - self.b1)
        self.v.mul_(self.b2).addcmul_(self.grad, self.grad, value=1 - self.b2)
        t = self.updates + 1
        lr_t = self.rate() * math.sqrt(1 - self.b2**t) / (1 - self.b1**t)
        update = self.m / self.v.sqrt().add_(self.eps)
        update[: self.n_decayed].add_(self.flat[: self.n_decayed], alpha=self.l2)
        self.flat.sub_(update, alpha=lr_t)
        self.updates = t
        return norm

    def state(self) -> dict[str, Tensor]:
        """Everything that a restart needs, as tensors."""
        updates = torch.tensor([self.updates])
        return {"flat": self.flat, "m": self.m, "v": self.v, "updates": updates}

    @torch.no_grad()
    def load_state(self, state: dict[str, Tensor]) -> None:
        """Put back what `state` gave; shapes must agree."""
        for name in ("flat", "m", "v"):
            if state[name].shape != getattr(self, name).shape:
                raise ValueError(f"optimizer state {name} has {state[name].numel()} values")
            getattr(self, name).copy_(state[name])
        self.updates = int(state["updates"])
