"""The authors' Adam and learning-rate schedules, exactly.

Not `torch.optim.AdamW`, although its kernel is used: the decay is decoupled but multiplied by
the bias-corrected rate, eps is added to the uncorrected root, clipping is global and comes before
the moments, and the schedule sees the number of updates already done, so that the first update
changes nothing.
Source: paper 4.1; authors' released code for everything that the paper leaves open.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gpt1.settings import OptimizerSettings


def warmup_linear(x: float, warmup: float) -> float:
    """Fine-tuning's factor at the fraction `x` of training: 1 - x, times x / warmup in warm-up."""
    return (x / warmup if x <= warmup and warmup > 0 else 1.0) * (1.0 - x)


def warmup_cosine(x: float, warmup: float) -> float:
    """Pre-training's factor at `x`: a linear warm-up, then a half cosine that counts from x = 0."""
    if x <= warmup and warmup > 0:
        return x / warmup
    return 0.5 * (1.0 + math.cos(math.pi * x))


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
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        schedule: Schedule,
        settings: OptimizerSettings,
    ):
        ordered = sorted(parameters, key=lambda p: p.ndim <= 1)  # matrices first, order kept
        self.schedule, self.settings = schedule, settings
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

    def rate(self) -> float:
        """Learning rate of the next update, without Adam's bias correction."""
        return self.schedule.rate(self.updates)

    @torch.no_grad()
    def step(self) -> Tensor:
        """Clip, update moments and parameters; returns the gradient norm before clipping."""
        own, norm = self.settings, self.grad.norm()
        scale = None  # what the kernel divides gradients by
        if own.max_grad_norm > 0:
            scale = (norm / own.max_grad_norm).clamp(min=1.0)
            if scale.dtype is not torch.float32:
                self.grad.div_(scale)  # the kernel takes no other type
                scale = None
        t, rate = self.updates + 1, self.rate()
        root = math.sqrt(1 - own.b2**t)
        # The kernel's own decay multiplies by 1 - rate * decay, which float32 resolves only to a
        # tenth of the decay. It adds eps to the corrected root, so eps is corrected likewise.
        decayed = self.flat[: self.n_decayed]
        decayed.sub_(decayed, alpha=rate * own.l2 * root / (1 - own.b1**t))
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
        self.updates = t
        return norm

    def state(self) -> dict[str, Tensor]:
        """Everything needed for a restart, as tensors."""
        updates = torch.tensor([self.updates])
        return {"flat": self.flat, "m": self.m, "v": self.v, "updates": updates}

    @torch.no_grad()
    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        for name in ("flat", "m", "v"):
            getattr(self, name).copy_(state[name])
        self.updates = int(state["updates"])
