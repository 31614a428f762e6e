"""What one side of a comparison is told to do: a JSON file that every worker reads.

Standard library alone, so that a worker that needs no torch starts quickly.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class Rows:
    """A file of rows (`bench.rows`) with its task: what `gpt1.training` must know of it."""

    file: str
    task: str
    family: str
    n_labels: int
    arch: str = "transformer"


@dataclass(frozen=True)
class Job:
    """One kind of work on the same rows for every side.

    `models` holds the model's settings by architecture, `training` those of fine-tuning or of
    pre-training, `runtime` those of the suite's own programs; precision `quicker` takes float32 or
    bfloat16, whichever is quicker here. After `warm_up` untimed steps come `rounds` turns, for each
    file of rows. A turn begins with `untimed` steps, for while others had theirs the caches were
    filled with what is not ours; then `steps` are timed.
    """

    rows: list[Rows]
    models: dict[str, dict[str, Any]]
    n_vocab: int
    training: dict[str, Any]
    runtime: dict[str, Any] = field(default_factory=dict)
    pad_to: int | None = None  # tokens that the plain loop pads fine-tuning rows to
    rounds: int = 5
    steps: int = 1
    warm_up: int = 1
    untimed: int = 0

    def write(self, path: Path) -> Path:
        """Write the job and return its path."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        return path

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The job in a file."""
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls(**values | {"rows": [Rows(**rows) for rows in values["rows"]]})
