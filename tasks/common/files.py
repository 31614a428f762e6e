"""Atomic file writes, JSON input and output, and file digests."""

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tasks.common.errors import InputError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def write_atomic(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file that replaces `path` when the block exits without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    encoding = None if "b" in mode else "utf-8"
    newline = None if "b" in mode else "\n"
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, mode, encoding=encoding, newline=newline) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in FULL:
            raise InputError(
                f"{path}: {error.strerror} while writing; free some space and start again"
            ) from None
        raise


class JsonObject(dict):
    """A JSON object whose missing keys raise an `InputError` that names its file."""

    source = ""

    def __missing__(self, key: str) -> Any:
        raise InputError(f"{self.source}: {key!r} is missing; found {', '.join(self) or 'nothing'}")


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as JSON with sorted keys, atomically. Rejects NaN."""
    with write_atomic(path) as file:
        json.dump(value, file, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a missing, truncated or wrongly encoded one is an `InputError`.

    So is, later, a missing key of one of its objects.
    """

    class Found(JsonObject):
        source = str(path)

    try:
        return json.loads(Path(path).read_text(encoding="utf-8"), object_hook=Found)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; run the step that makes it first") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: line {error.lineno}: not JSON ({error.msg}); delete it and rerun the step "
            "that made it"
        ) from None


def sha256_file(path: str | Path) -> str:
    """Hex digest of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_json(value: Any) -> str:
    """Hex digest of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
