"""The saved states of a pre-training run, from which it resumes."""

from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from gpt1.weights.checkpoint import read_tensors, write_tensors
from tasks.common.errors import InputError

State = dict[str, Tensor]


class SavedStates:
    """The last two states of a run, in its folder.

    Should the last be damaged, the run goes on from the one before it and loses only minutes.
    """

    def __init__(self, folder: Path) -> None:
        self.last, self.older = folder / "state.safetensors", folder / "older-state.safetensors"

    def save(self, state: State) -> None:
        """Write a state and keep the one before it. Raises InputError if the disk is full."""
        if self.last.exists():
            self.last.replace(self.older)
        write_tensors(self.last, state)

    def load(self, check: Callable[[int], None]) -> State | None:
        """The newest undamaged state, or None if there is none.

        `check` takes the state's number of updates and raises InputError if anything else that is
        needed to resume there is missing. A state that cannot be used is renamed, and one line
        says so.
        """
        states = [path for path in (self.last, self.older) if path.exists()]
        for path in states:
            try:
                state = read_tensors(path)
                check(int(state["updates"]))
                return state
            except InputError as error:
                path.replace(path.with_suffix(".damaged"))
                last = path == states[-1]
                rest = "starting again from update 0" if last else "trying the state before it"
                print(f"warning: {error}; {rest}", flush=True)
        return None
