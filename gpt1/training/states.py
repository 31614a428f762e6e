"""The saved states of a pre-training run, from which it resumes."""

from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from gpt1.weights.checkpoint import read_tensors, write_tensors
from tasks.common.errors import InputError

State = dict[str, Tensor]


class SavedStates:
    """The last two states of a run, in its folder.

    The one that is replaced stays until the next is written, so that a damaged one costs minutes.
    """

    def __init__(self, folder: Path) -> None:
        self.last, self.older = folder / "state.safetensors", folder / "older-state.safetensors"

    def save(self, state: State) -> None:
        """Write a state, and keep the one before. Raises InputError if the disk is full."""
        if self.last.exists():
            self.last.replace(self.older)
        write_tensors(self.last, state)

    def load(self, like: State, check: Callable[[int], None]) -> State | None:
        """The newest undamaged state, or None without any.

        It has the tensors of `like`, a state of the same run. `check` is given its update and
        raises InputError if something else is missing to resume there. A state that cannot be used
        is set aside, and one line says so.
        """
        states = [path for path in (self.last, self.older) if path.exists()]
        for path in states:
            try:
                state = read_tensors(path)
                _check_form(path, state, like)
                check(int(state["updates"]))
                return state
            except InputError as error:
                path.replace(path.with_suffix(".damaged"))
                last = path == states[-1]
                rest = "starting again from update 0" if last else "trying the state before it"
                print(f"warning: {error}; {rest}", flush=True)
        return None


def _check_form(path: Path, state: State, like: State) -> None:
    """Raise InputError unless a state has the tensors of `like`; its log has any number of rows."""
    for name, tensor in like.items():
        found, rows = state.get(name), name == "log"
        alike = found is not None and found.dtype == tensor.dtype and found.dim() == tensor.dim()
        if found is None or not alike or found.shape[rows:] != tensor.shape[rows:]:
            raise InputError(f"{path}: its {name!r} is missing or not of this run")
        if name in ("log", "seconds") and not found.isfinite().all():
            raise InputError(f"{path}: its {name!r} is not finite")
