"""Atomic file writes, JSON with checksums, file digests and manifests.

The suite's JSON objects carry a digest of their own content under `checksum`, which is verified
whenever the file is read: a flipped bit is noticed. Objects without one, such as those of other
programs, are accepted as they are.
"""

import contextlib
import errno
import functools
import glob
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from tasks.common.errors import InputError

CHECKSUM = "checksum"
MANIFEST = "manifest.json"  # lists the files of a folder as they were written or fetched
Described = dict[str, dict[str, Any]]  # size and SHA-256 of files, by their paths below a folder
ABANDONED_SECONDS = 3600
REMEDIES = {  # for a write that the system refuses
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space and start again"),
    errno.EFBIG: "raise the limit on the size of files (ulimit -f) and start again",
    **dict.fromkeys(
        (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY),
        "move what has a file's or a folder's name away, or name another",
    ),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS), "make the folder writable, or name another one"
    ),
}


@contextlib.contextmanager
def write_atomic(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file that replaces `path` when the block exits without an error.

    Leftovers of killed writes of `path` are removed first. Raises InputError for a full disk and
    for a folder that cannot be written.
    """
    path = _named(path)
    encoding = None if "b" in mode else "utf-8"
    newline = None if "b" in mode else "\n"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent, glob.escape(path.name))
        temporary = path.with_name(f".{path.name}.{this_machine()}-{os.getpid():08}")
        try:
            with open(temporary, mode, encoding=encoding, newline=newline) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _named(path: str | Path) -> Path:
    """The path of an output. Raises InputError for `.` and the like, which has no name."""
    if not Path(path).name:
        raise InputError(f"{path}: the folder where you are; name a file or a folder in it")
    return Path(path)


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Raise InputError if the system refuses to write `path` for a reason that has a remedy."""
    try:
        yield
    except OSError as error:
        # An error about a file read meanwhile carries the name of that file instead.
        written = error.filename is None or Path(path).is_relative_to(Path(error.filename).parent)
        if error.errno not in REMEDIES or not written:
            raise
        remedy = REMEDIES[error.errno]
        raise InputError(f"{path}: {error.strerror} while writing; {remedy}") from None


def refuse_others(folder: Path, mark: str, names: str = "") -> None:
    """Raise InputError for a folder with files but without `mark`, which an earlier output has.

    Of a folder that is replaced as a whole no other file is lost than those whose paths `names`
    matches.
    """
    files = folder.iterdir() if folder.is_dir() and not (folder / mark).exists() else ()
    for path in folder.rglob("*") if names else ():
        if path.is_file() and not re.fullmatch(names, path.relative_to(folder).as_posix()):
            raise InputError(f"{path}: no file of an earlier output; move it elsewhere")
    if any(not path.name.startswith(".") for path in files):
        raise InputError(
            f"{folder}: exists and is no earlier output of this program, as it has no {mark}; give "
            "another folder"
        )


@contextlib.contextmanager
def scratch_folder(out: Path) -> Iterator[Path]:
    """An empty folder `.NAME.tmp` beside `out`; leftovers of a killed run are removed first."""
    scratch = _named(out).with_name(f".{out.name}.tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    with writing(out):
        try:
            scratch.mkdir(parents=True)
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def write_json(path: str | Path, value: Any, checksum: bool = True) -> None:
    """Write `value` as JSON, keys in their order, atomically. Rejects NaN.

    `checksum` is False for the formats of other programs.
    """
    value = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False))
    if checksum and isinstance(value, dict):
        value[CHECKSUM] = sha256_json(value)
    with write_atomic(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file. Raises InputError if it is missing, truncated, damaged or not UTF-8."""
    remedy = "delete it and rerun the step that made it"
    try:
        value = parse_json(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; run the step that makes it first") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder has the name of a file; move it away") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno}: not JSON ({error.msg}); {remedy}") from None
    if isinstance(value, dict) and CHECKSUM in value:
        expected = value.pop(CHECKSUM)
        if sha256_json(value) != expected:
            raise InputError(f"{path}: damaged or edited, its checksum does not fit; {remedy}")
    return value


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises only JSONDecodeError, also for what JSON allows but Python cannot hold or write:
    thousands of nested brackets or digits, and unpaired surrogates.
    """
    try:
        value = json.loads(text)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        raise json.JSONDecodeError(str(error), text, 0) from None


def named_file(folder: Path, name: Any, source: Path) -> Path:
    """The path of the file in `folder` that `source` calls `name`.

    Raises InputError for anything but a plain file name, and for a link that leads out of the
    folder.
    """
    plain = isinstance(name, str) and name.isprintable() and len(name) < 200
    if not plain or name in ("", ".", "..") or name != os.path.basename(name):
        raise InputError(f"{source}: {name!r:.80} is not the name of a file; make it again")
    return inside(folder, [folder / name])[0]


def inside(folder: Path, paths: list[Path]) -> list[Path]:
    """`paths`, if all lie in the folder. Raises InputError for a link that leads out of it."""
    real = functools.cache(os.path.realpath)
    for path in paths:
        target = real(path) if path.is_symlink() else real(path.parent)
        if not Path(target).is_relative_to(real(folder)):
            raise InputError(
                f"{path}: a link that leads out of {folder}; put the file itself there, or link "
                "the whole folder"
            )
    return paths


def sha256_file(path: str | Path) -> str:
    """Hex digest of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_json(value: Any) -> str:
    """Hex digest of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def described(folder: Path, names: Iterable[str]) -> Described:
    """The manifest's entries for these files."""
    return {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_file(folder / name)}
        for name in names
    }


def read_manifest(folder: Path, remedy: str) -> dict[str, Any]:
    """Read a folder's manifest. Raises InputError if it is missing or does not list files."""
    path = folder / MANIFEST
    content = read_json(path)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(isinstance(own, dict) for own in files.values()):
        raise InputError(f"{path}: does not list files; {remedy}")
    return content


def check_files(folder: Path, files: Described, remedy: str) -> None:
    """Raise InputError for the first of these files that is missing or has another digest."""
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: no such file; {remedy}")
        if sha256_file(path) != entry.get("sha256"):
            raise InputError(f"{path}: not the file that {MANIFEST} describes (sha256); {remedy}")


def sweep(folder: Path, name: str = "*") -> None:
    """Remove what killed writes left in a folder: temporary files whose process has ended.

    `name` is a glob pattern of the files that were to be written. Whether a process on another
    machine has ended cannot be known, so files not written to for an hour are removed as well.
    """
    for left in folder.glob(f".{name}.{'[0-9a-f]' * 8}-{'[0-9]' * 8}"):
        machine, _, process = left.name.rpartition(".")[2].partition("-")
        with contextlib.suppress(OSError):
            is_old = time.time() - left.stat().st_mtime > ABANDONED_SECONDS
            if is_old or (machine == this_machine() and not _is_running(int(process))):
                left.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's process
        return True
    return True


@functools.cache
def this_machine() -> str:
    """A digest of this machine's name."""
    return hashlib.sha256(os.uname().nodename.encode()).hexdigest()[:8]
