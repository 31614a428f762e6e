"""The authors' Adam and learning-rate schedules, exactly.

Not `torch.optim.AdamW`, although its kernel does the sums: the decay is decoupled but multiplied by
the bias-corrected rate, eps is added to the uncorrected root, clipping is global and comes before
the moments, and the schedule sees the number of updates already done, so that the first update
changes nothing.
Source: paper 4.1; authors' released code for everything that the paper leaves open.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from gpt1.settings import OptimizerSettings

Decay = Literal["authors", "adamw", "l2"]
RESTARTS = 3  # parts of training, each with a cosine of its own


def warmup_linear(x: float, warmup: float) -> float:
    """Fine-tuning's factor at the fraction `x` of training: up over `warmup`, then (1 - x)."""
    return (x / warmup if x <= warmup and warmup > 0 else 1.0) * (1.0 - x)


def warmup_cosine(x: float, warmup: float) -> float:
    """Pre-training's factor at `x`: linear up over `warmup`, then a half cosine counted from 0."""
    if x <= warmup and warmup > 0:
        return x / warmup
    return 0.5 * (1.0 + math.cos(math.pi * x))


def warmup_restarts(x: float, warmup: float) -> float:
    """SGDR's factor at `x`: linear up over `warmup`, a half cosine in each third of training."""
    if x <= warmup and warmup > 0:
        return x / warmup
    return 0.5 * (1.0 + math.cos(math.pi * (RESTARTS * x % 1.0)))


def warmup_constant(x: float, warmup: float) -> float:
    """The factor at `x` of a schedule without decay: linear up over `warmup`, then 1."""
    return min(1.0, x / warmup) if warmup > 0 else 1.0


SCHEDULES = {
    "linear": warmup_linear,
    "cosine": warmup_cosine,
    "restarts": warmup_restarts,
    "constant": warmup_constant,
}


@dataclass(frozen=True)
class Schedule:
    """The learning rate as a function of the updates done.

    `lr` is the peak, `shape` one of the functions above, `warmup` a fraction of the `total`
    updates.
    """

    lr: float
    shape: Callable[[float, float], float]
    warmup: float
    total: int

    def rate(self, updates: int) -> float:
        """Learning rate of the update after `updates` updates, without Adam's bias correction."""
        return self.lr * self.shape(updates / self.total, self.warmup)


class Adam:
    """One flat buffer of parameters, gradients and moments, updated as the authors' code does.

    Matrices decay by `l2`; vectors (biases, gains) only with `vector_l2`. The parameters become
    views of the flat buffer, so a step is a handful of operations whatever the number of tensors.

    `decay` is the authors', AdamW's (their decoupled decay without Adam's bias correction of the
    rate) or plain L2 (part of the gradient, after clipping, as in `torch.optim.Adam`). `factors`
    multiply the rate of each parameter, or of parts of it; a factor of 0 leaves it as it is, but
    its moments follow.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        schedule: Schedule,
        settings: OptimizerSettings,
        decay: Decay = "authors",
    ):
        ordered = sorted(parameters, key=lambda p: p.ndim <= 1)  # matrices first, order kept
        self.schedule, self.settings, self.decay = schedule, settings, decay
        self.parameters = ordered
        self.factors: Tensor | None = None
        self.updates = 0
        self.flat = torch.cat([p.detach().reshape(-1) for p in ordered])
        self.grad, self.m, self.v = (torch.zeros_like(self.flat) for _ in range(3))
        decayed = ordered if settings.vector_l2 else [p for p in ordered if p.ndim > 1]
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

    def set_factors(self, factor: Callable[[nn.Parameter], float | Tensor]) -> None:
        """From now on multiply the learning rate of each parameter by `factor(parameter)`.

        A tensor has the shape of the parameter, or one that broadcasts to it.
        """
        parts = [(torch.ones_like(p.data) * factor(p)).reshape(-1) for p in self.parameters]
        self.factors = torch.cat(parts)

    def rate(self) -> float:
        """Learning rate of the next update, without Adam's bias correction."""
        return self.schedule.rate(self.updates)

    @torch.no_grad()
    def step(self) -> Tensor:
        """Clip, update moments and parameters; returns the gradient norm before clipping."""
        own, norm = self.settings, self.grad.norm()
        before = None if self.factors is None else self.flat.clone()
        scale = None  # what the kernel divides gradients by
        if own.max_grad_norm > 0:
            scale = (norm / own.max_grad_norm).clamp(min=1.0)
            if scale.dtype is not torch.float32 or self.decay == "l2":
                self.grad.div_(scale)  # the kernel takes no other type, and decay comes after
                scale = None
        t, rate = self.updates + 1, self.rate()
        root = math.sqrt(1 - own.b2**t)
        # The kernel's own decay multiplies by 1 - rate * decay, which float32 rounds to a tenth of
        # the decay. It adds eps to the corrected root, so eps is given without the correction.
        decayed = self.flat[: self.n_decayed]
        if self.decay == "l2":
            self.grad[: self.n_decayed].add_(decayed, alpha=own.l2)
        else:
            alpha = rate * own.l2
            if self.decay == "authors":
                alpha = alpha * root / (1 - own.b1**t)
            decayed.sub_(decayed, alpha=alpha)
        torch._fused_adamw_(
            [self.flat],
            [self.grad],
            [self.m],
            [self.v],
            [],
            [torch.full((), t, dtype=torch.float32, device=self.flat.device)],
            lr=rate,
            beta1=own.b1,
            beta2=own.b2,
            weight_decay=0.0,
            eps=own.eps / root,
            amsgrad=False,
            maximize=False,
            grad_scale=scale,
        )
        if before is not None and self.factors is not None:  # a step is linear in the rate
            self.flat.copy_(before.lerp(self.flat, self.factors))
        self.updates = t
        return norm

    def state(self) -> dict[str, Tensor]:
        """Everything that a restart needs, as tensors."""
        updates = torch.tensor([self.updates])
        return {"flat": self.flat, "m": self.m, "v": self.v, "updates": updates}

    @torch.no_grad()
    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        for name in ("flat", "m", "v"):
            getattr(self, name).copy_(state[name])
        self.updates = int(state["updates"])
