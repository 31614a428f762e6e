"""The work folder of a pre-training run: its checkpoints, and the states from which it resumes."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from gpt1.weights.checkpoint import (
    check_checkpoint,
    read_facts,
    read_tensors,
    sidecar,
    write_tensors,
)
from tasks.common.errors import InputError
from tasks.common.files import sha256_json, sweep, write_atomic

State = dict[str, Tensor]


class WorkFolder:
    """The checkpoints of a run and its last two states, in a folder below `parent`.

    The folder's name has digests of `run`, the run's settings and data, and of `made`: the code,
    precision and versions that a resumed run must share. If the last state is damaged, the run
    resumes from the one before it and loses only minutes.
    """

    def __init__(self, parent: Path, arch: str, run: dict[str, Any], made: dict[str, Any]) -> None:
        self.run = _name(arch, run)
        self.folder = parent / f"{self.run}-{sha256_json(made)[:8]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.last = self.folder / "state.safetensors"
        self.older = self.folder / "older-state.safetensors"

    def checkpoint(self, update: int) -> Path:
        """The path of the checkpoint of an update."""
        return self.folder / f"update-{update}.safetensors"

    def save(self, state: State) -> None:
        """Write a state and keep the previous one. Raises InputError if the disk is full."""
        if self.last.exists():
            self.last.replace(self.older)
        write_tensors(self.last, state, of=self.folder.name)

    def load(self, checkpoints: Sequence[int]) -> State | None:
        """The newest undamaged state for which all earlier `checkpoints` are intact, or None.

        A state that cannot be used is renamed, with a one-line warning. Leftovers of killed writes
        are removed from this folder and those of other runs.
        """
        for folder in self.folder.parent.glob("*"):
            sweep(folder)
        states = [path for path in (self.last, self.older) if path.exists()]
        for path in states:
            try:
                state = read_tensors(path, of=self.folder.name)
                for update in checkpoints:
                    if update < int(state["updates"]):  # a checkpoint at the state is made again
                        self._check(self.checkpoint(update))
                return state
            except InputError as error:
                path.replace(path.with_suffix(".damaged"))
                last = path == states[-1]
                rest = "starting again from update 0" if last else "trying the state before it"
                print(f"warning: {error}; {rest}", flush=True)
        if any(path != self.folder for path in self.folder.parent.glob(f"{self.run}-*")):
            print(
                "starting from update 0: what is saved of this run was made by other code, in "
                "another precision, or with another version of torch or numpy",
                flush=True,
            )
        return None

    def _check(self, path: Path) -> None:
        """Raise InputError if a checkpoint is missing, damaged or of another run."""
        check_checkpoint(path)
        facts = read_facts(path).model_dump(mode="json")
        settings = {**(facts["settings"] or {})}
        settings.pop("heldout_tokens", None)
        run = {"settings": settings, "corpus": facts["corpus_sha256"]}
        run |= {key: facts[key] for key in ("arch", "tokenizer")}
        if _name(facts["arch"], run) != self.run:
            raise InputError(f"{path}: of another run, with other settings or data")

    def publish(self, updates: Sequence[int], out: Path) -> None:
        """Copy the checkpoints of these updates, and their JSON files, to `out`."""
        out.mkdir(parents=True, exist_ok=True)
        for path in map(self.checkpoint, updates):
            for source in (path, sidecar(path)):
                with write_atomic(out / source.name, "wb") as file, open(source, "rb") as original:
                    shutil.copyfileobj(original, file)


def _name(arch: str, run: dict[str, Any]) -> str:
    """The name of a run: its architecture, with a digest of its settings and data."""
    return f"{arch}-{sha256_json(run)[:16]}"
