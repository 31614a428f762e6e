"""How a cell of a study differs from the grid's, and the name that says so in its path.

The name is made of what differs alone (`lm_coef-0.25`, `transfer-highest+schedule-cosine`), so
that studies which ask for the same cell share it, and a path says all about the cell it is of.
"""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from gpt1.settings import Depth, Epochs, FinetuneMethod, Width
from tasks.common.errors import InputError
from tasks.common.settings import first_fault

NAME = r"[a-z0-9_]+-[\w.-]+(?:\+[a-z0-9_]+-[\w.-]+)*"  # a regular expression

TaskName = Annotated[str, Field(pattern=r"^[a-z0-9_]+\z")]


def _split(value: Any) -> Any:
    """The tasks that a name joins."""
    return value.split(".") if isinstance(value, str) else value


def _several(tasks: list[str]) -> list[str]:
    """In one order, so that a set of tasks has one name; none at all is no set."""
    if tasks and len(set(tasks)) < max(2, len(tasks)):
        raise PydanticCustomError("together", "give two tasks or more, each once")
    return sorted(tasks)


class Variant(FinetuneMethod):
    """What differs from the cells of the grid: null, or the paper's method, is what these have.

    The first three keys are those of the language model, which is then pre-trained for the study.
    """

    block: Literal["gpt1", "modern"] = Field(
        "gpt1",
        description="the transformer's blocks: modern ones are pre-norm, with RMSNorm, RoPE and "
        "SwiGLU, at equal FLOPs and trained by AdamW (gpt1.model.modern)",
    )
    n_layer: Depth | None = Field(None, description="number of layers of the language model")
    n_hidden: Width | None = Field(None, description="number of LSTM units")
    update: Annotated[int, Field(ge=0, le=2**40)] | None = Field(
        None, description="the pre-training update whose checkpoint is fine-tuned (null: the last)"
    )
    lm_coef: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="weight of the auxiliary LM loss; 0 is the cell with aux off"
    )
    lr: Annotated[float, Field(gt=0, le=1e6)] | None = Field(
        None, description="peak learning rate of fine-tuning"
    )
    epochs: Epochs | None = Field(None, description="passes over the training rows")
    l2: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="weight decay of fine-tuning; 0 is none"
    )
    together: Annotated[list[TaskName], BeforeValidator(_split), AfterValidator(_several)] = Field(
        [],
        description="the tasks, two or more, that one model is trained on at once; each has a "
        "classifier of its own (gpt1.finetune)",
    )

    @property
    def name(self) -> str:
        """`KEY-VALUE` of each key that differs, joined by `+`; empty if none does."""
        values = {key: getattr(self, key) for key in sorted(Variant.model_fields)}
        default = Variant.model_fields
        return "+".join(
            f"{key}-{_text(value)}"
            for key, value in values.items()
            if value != default[key].default
        )

    @classmethod
    def named(cls, name: str) -> Self:
        """The variant with a name. Raises InputError if no variant has this name."""
        pairs = (part.partition("-") for part in name.split("+") if part)
        try:
            found = cls.model_validate({key: _value(text) for key, _, text in pairs})
        except ValidationError as error:
            raise InputError(f"variant {name}: {first_fault(error)}") from None
        if found.name != name:
            raise InputError(f"variant {name}: its name is {found.name!r}; use that")
        return found

    @property
    def model(self) -> "Variant":
        """What of it the language model is pre-trained with."""
        return Variant(n_layer=self.n_layer, n_hidden=self.n_hidden, block=self.block)

    @property
    def method(self) -> FinetuneMethod:
        """What of it the fine-tuning program is given, beside the values that replace others.

        A modern transformer's decay is AdamW's unless another is asked for.
        """
        given = {key: getattr(self, key) for key in FinetuneMethod.model_fields}
        if self.block == "modern" and self.decay == "authors":
            given["decay"] = "adamw"
        return FinetuneMethod(**given)


def _text(value: Any) -> str:
    """A value without a needless `.0`; tasks are joined by a full stop."""
    if isinstance(value, list):
        return ".".join(value)
    return value if isinstance(value, str) else json.dumps(value).removesuffix(".0")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
