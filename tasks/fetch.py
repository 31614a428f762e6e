"""Fetch a task or a corpus from the Hugging Face hub, at one commit, into a folder.

    python -m tasks.fetch cola --revision bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c --folder raw/cola

The manifest is written last, so a folder with a manifest is whole. A second start needs no network
if the files are as the manifest says; else only what is missing or wrong is fetched. A folder holds
one commit for good: no other commit on this machine, offline or not, takes its place.
"""

import argparse
import contextlib
import hashlib
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import httpx2
from filelock import Timeout
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import WeakFileLock, disable_progress_bars

from tasks import TASKS
from tasks.common.errors import InputError, run
from tasks.common.files import FULL, read_json, sha256_file, write_json
from tasks.corpora import CORPORA
from tasks.dprd import dprd
from tasks.hub import COMMIT, MANIFEST, HubSource, pinned

LOCK_NOTICE_SECONDS = 2  # after which a job says that it waits for another one
LOCK_TIMEOUT_SECONDS = 4 * 3600


def source_named(name: str) -> HubSource:
    """The source of a task or a corpus. Raises InputError for any other name."""
    sources = {source.name: source for source in (*(task.hub for task in (*TASKS, dprd)), *CORPORA)}
    if name not in sources:
        raise InputError(f"no data set {name!r} to fetch; there are {' '.join(sources)}")
    return sources[name]


def fetch(name: str, revision: str | None, folder: str | Path, endpoint: str | None = None) -> dict:
    """Bring a data set into `folder` and return its manifest; `revision` None: the source's own.

    `endpoint` is the hub's address; None is that of HF_ENDPOINT, or else the public one.
    Jobs that fetch into the same folder wait for each other. Raises InputError for whatever the
    hub, the network or the disk refuses, and for files that are not what the hub lists.
    """
    source = source_named(name)
    commit = pinned(source, revision)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with folder_lock(folder):
        try:
            files = existing_files(source, commit, folder)
            files = files or download(source, commit, folder, endpoint)
        except (httpx2.HTTPError, OSError) as error:
            raise InputError(reason(error, source, commit, folder)) from None
        manifest = {
            "name": name,
            "repo": source.repo,
            "revision": commit,
            "config": source.config,
            "licence": source.licence,
            "files": files,
        }
        write_json(folder / MANIFEST, manifest)
    return manifest


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises InputError if another job does not release it."""
    lock = folder / ".lock"
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(WeakFileLock(lock, timeout=LOCK_NOTICE_SECONDS))
        except Timeout:
            print(f"waiting for the job that holds {lock}", file=sys.stderr, flush=True)
            try:
                held.enter_context(WeakFileLock(lock, timeout=LOCK_TIMEOUT_SECONDS))
            except Timeout:
                raise InputError(
                    f"{lock}: held by another job for over {LOCK_TIMEOUT_SECONDS / 3600:g} hours; "
                    "start again when it is done, or delete that file if no other job runs"
                ) from None
        yield


def existing_files(source: HubSource, commit: str, folder: Path) -> dict | None:
    """The files of a folder that is whole, else None; InputError if it is of another commit.

    All else that a manifest says is the source's, and is written anew.
    """
    if not (folder / MANIFEST).exists():
        return None
    manifest = read_json(folder / MANIFEST)
    if (manifest["repo"], manifest["revision"]) != (source.repo, commit):
        raise InputError(
            f"{folder}: holds {manifest['repo']} at {manifest['revision']}, which cannot stand in "
            f"for {source.repo} at {commit}; give another folder"
        )
    missing = [pattern for pattern in source.patterns if not _matching(pattern, manifest["files"])]
    wrong = any(_differs(folder / name, facts) for name, facts in manifest["files"].items())
    return None if missing or wrong else dict(manifest["files"])


def download(source: HubSource, commit: str, folder: Path, endpoint: str | None) -> dict[str, dict]:
    """Fetch what is missing or wrong and return size and sha256 of every file.

    What the hub lists is asked for before the download, since the library takes a folder that has
    any files for the snapshot where the hub does not answer.
    """
    tree = HfApi(endpoint).list_repo_tree(
        source.repo, repo_type="dataset", revision=commit, recursive=True
    )
    listed = {file.path: file for file in tree if isinstance(file, RepoFile)}
    with_card = [*source.patterns, "README.md"]  # a branch of converted files has no card
    wanted = sorted({path for pattern in with_card for path in _matching(pattern, listed)})
    for pattern in source.patterns:
        if not _matching(pattern, listed):
            raise InputError(
                f"{source.repo} at {commit}: no file {pattern}; its layout is not the one that "
                "is known here: give another revision"
            )
    for path in wanted:
        if not _as_listed(folder / path, listed[path]):
            (folder / path).unlink(missing_ok=True)
    snapshot_download(
        source.repo,
        repo_type="dataset",
        revision=commit,
        allow_patterns=wanted,
        local_dir=folder,
        endpoint=endpoint,
    )
    for path in wanted:
        if not _as_listed(folder / path, listed[path]):
            size = (folder / path).stat().st_size if (folder / path).exists() else 0
            (folder / path).unlink(missing_ok=True)
            raise InputError(
                f"{folder / path}: came as {size:,} bytes that are not the {listed[path].size:,} "
                f"bytes that {source.repo} lists; removed: start again to fetch it anew"
            )
    return {path: _described(folder / path) for path in wanted}


def _described(path: Path) -> dict:
    """What the manifest says of a file: its size in bytes and its sha256."""
    return {"size": path.stat().st_size, "sha256": sha256_file(path)}


def _differs(path: Path, facts: dict) -> bool:
    """Whether a file is not what the manifest says: gone, cut off or changed."""
    return not path.is_file() or path.stat().st_size != facts["size"] or _described(path) != facts


def _matching(pattern: str, paths: dict) -> list[str]:
    return [path for path in paths if fnmatch(path, pattern)]


def _as_listed(path: Path, listed: RepoFile) -> bool:
    """Whether a file has the size and the digest that the hub lists: sha256, or git's for text."""
    if not path.is_file() or path.stat().st_size != listed.size:
        return False
    if listed.lfs:
        return sha256_file(path) == listed.lfs.sha256
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == listed.blob_id


def reason(error: Exception, source: HubSource, commit: str, folder: Path) -> str:
    """One line for what the hub, the network or the disk refused, and the remedy."""
    what = f"{source.repo} at {commit}"
    if isinstance(error, GatedRepoError):
        return (
            f"{source.repo}: gated; ask for access on its page of the hub, then give a token with "
            "`hf auth login` or HF_TOKEN"
        )
    if isinstance(error, RepositoryNotFoundError):
        return (
            f"{source.repo}: no such data set on the hub, or a private one; get its files in "
            "another way and give {folder: NAME} in the config, or a token in HF_TOKEN"
        )
    if isinstance(error, RevisionNotFoundError):
        return f"{source.repo}: no commit {commit}; look it up on the hub and give it as `revision`"
    if isinstance(error, OSError) and error.errno in FULL:
        return f"{folder}: {error.strerror}; free some space and start again, what is here is kept"
    beside = (path.parent.name for path in sorted(folder.parent.glob(f"*/{MANIFEST}")))
    others = [name for name in beside if COMMIT.fullmatch(name) and name != commit]
    stand_in = f" ({', '.join(others)} is here, but cannot stand in)" if others else ""
    if isinstance(error, OfflineModeIsEnabled):
        return (
            f"{what} is not whole in {folder}{stand_in} and HF_HUB_OFFLINE is set; start once "
            "with network and without it, or copy the folder from where it was fetched"
        )
    if isinstance(error, HfHubHTTPError | httpx2.HTTPError | LocalEntryNotFoundError):
        cause = error.__cause__ or error if isinstance(error, LocalEntryNotFoundError) else error
        answer = " ".join(str(cause).split())
        return (
            f"{what}: the hub does not answer ({answer:.120}) and {folder} is not whole{stand_in}; "
            "start again later, what is here is kept"
        )
    if "Consistency check failed" in str(error):
        return f"{what}: a file came truncated ({' '.join(str(error).split()):.120}); start again"
    raise error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a task's name, or a corpus of tasks/corpora.py")
    parser.add_argument("--revision", help="40 hexadecimal digits (default: the source's own)")
    parser.add_argument("--folder", required=True, help="where the files and the manifest go")
    given = parser.parse_args()
    if not sys.stderr.isatty():
        disable_progress_bars()
    manifest = fetch(given.name, given.revision, given.folder)
    size = sum(facts["size"] for facts in manifest["files"].values())
    print(
        f"{manifest['repo']} at {manifest['revision']}: {len(manifest['files'])} files, "
        f"{size:,} bytes, licence: {manifest['licence']}"
    )


if __name__ == "__main__":
    sys.exit(run(main))
