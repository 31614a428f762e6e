"""Fetch a task or a corpus from the Hugging Face hub, at one commit, into a folder.

    python -m tasks.fetch cola --revision bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c --folder raw/cola

The manifest is written last, so a folder with a manifest is complete. A second run needs no network
if the files are as the manifest records; else only missing or changed files are fetched. A folder
holds one commit for good: no other commit on this machine, offline or not, takes its place.
"""

import argparse
import contextlib
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from tasks.common.errors import InputError, importing, run

with importing(__name__):
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
    from tasks.common.files import FULL, REMEDIES, read_json, sha256_file, write_json
    from tasks.common.hf_datasets import NO_LOCKS
    from tasks.corpora import CORPORA
    from tasks.dprd import dprd
    from tasks.hub import COMMIT, MANIFEST, HubSource, as_recorded, matching, pinned

LOCK_NOTICE_SECONDS = 2  # after which a job reports that it waits for another one
LOCK_TIMEOUT_SECONDS = 4 * 3600
REFUSALS: dict[type[Exception], str] = {
    GatedRepoError: "{repo}: gated; ask for access on its page of the hub, then give a token with "
    "`hf auth login` or HF_TOKEN",
    RepositoryNotFoundError: "{repo}: no such data set on the hub, or a private one; get its files "
    "in another way and set {{folder: NAME}} in the config, or a token in HF_TOKEN",
    RevisionNotFoundError: "{repo}: no commit {commit}; look it up on the hub and set `revision`",
}


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
    try:
        with folder_lock(folder):
            files = existing_files(source, commit, folder)
            files = files or download(source, commit, folder, endpoint)
            manifest = {
                "name": name,
                "repo": source.repo,
                "revision": commit,
                "config": source.config,
                "licence": source.licence,
                "files": files,
            }
            write_json(folder / MANIFEST, manifest)
    except (httpx2.HTTPError, OSError) as error:
        raise InputError(explain(error, source, commit, folder)) from None
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
    """The files of a complete earlier download, or None; InputError if it has another commit.

    The rest of a manifest is the source's, and is written again.
    """
    if not (folder / MANIFEST).exists():
        return None
    manifest = read_json(folder / MANIFEST)
    if (manifest["repo"], manifest["revision"]) != (source.repo, commit):
        raise InputError(
            f"{folder}: holds {manifest['repo']} at {manifest['revision']}, which cannot stand in "
            f"for {source.repo} at {commit}; use another folder"
        )
    files = dict(manifest["files"])
    complete = all(matching([pattern], files) for pattern in source.patterns)
    intact = all(as_recorded(folder / name, facts) for name, facts in files.items())
    return files if complete and intact else None


def download(source: HubSource, commit: str, folder: Path, endpoint: str | None) -> dict[str, dict]:
    """Fetch missing and changed files and return size and sha256 of every file.

    The hub's listing is requested first, since the library takes a folder that has any files for
    the snapshot where the hub does not answer, and does not compare digests.
    """
    tree = HfApi(endpoint).list_repo_tree(
        source.repo, repo_type="dataset", revision=commit, recursive=True
    )
    listed = {file.path: file for file in tree if isinstance(file, RepoFile)}
    for pattern in source.patterns:
        if not matching([pattern], listed):
            raise InputError(
                f"{source.repo} at {commit}: no file {pattern}; the layout of this commit is "
                "unknown: use another revision"
            )
    # A branch of converted files has no card.
    files = {path: listed[path] for path in matching([*source.patterns, "README.md"], listed)}
    wrong = [path for path, file in files.items() if not _as_listed(folder / path, file)]
    for path in wrong:
        (folder / path).unlink(missing_ok=True)
    snapshot_download(
        source.repo,
        repo_type="dataset",
        revision=commit,
        allow_patterns=wrong,
        local_dir=folder,
        endpoint=endpoint,
    )
    for path in wrong:
        if not _as_listed(folder / path, files[path]):
            size = (folder / path).stat().st_size if (folder / path).exists() else 0
            (folder / path).unlink(missing_ok=True)
            raise InputError(
                f"{folder / path}: downloaded {size:,} bytes that are not the {files[path].size:,} "
                f"bytes that {source.repo} lists; the file was removed, so run the command again"
            )
    return {
        path: {"size": files[path].size, "sha256": sha256_file(folder / path)}
        for path in sorted(files)
    }


def _as_listed(path: Path, listed: RepoFile) -> bool:
    """Whether a file has the size and the digest that the hub lists: sha256, or git's for text."""
    if not path.is_file() or path.stat().st_size != listed.size:
        return False
    if listed.lfs:
        return sha256_file(path) == listed.lfs.sha256
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == listed.blob_id


def explain(error: Exception, source: HubSource, commit: str, folder: Path) -> str:
    """A one-line explanation of a hub, network or disk error, with its remedy."""
    for refusal, text in REFUSALS.items():
        if isinstance(error, refusal):
            return text.format(repo=source.repo, commit=commit)
    if isinstance(error, OSError) and error.errno in FULL:
        return f"{folder}: {error.strerror}; {REMEDIES[error.errno]}, downloaded files are kept"
    if isinstance(error, OSError) and error.errno in NO_LOCKS:
        return (
            f"{folder}: {error.strerror}; fetching needs a file system with locks: fetch into a "
            "--folder on one, and move that folder here"
        )
    what = f"{source.repo} at {commit}"
    beside = (path.parent.name for path in sorted(folder.parent.glob(f"*/{MANIFEST}")))
    others = [name for name in beside if COMMIT.fullmatch(name) and name != commit]
    stand_in = f" ({', '.join(others)} is here, but cannot stand in)" if others else ""
    if isinstance(error, OfflineModeIsEnabled):
        return (
            f"{what} is incomplete in {folder}{stand_in} and HF_HUB_OFFLINE is set; unset it and "
            "run this once with network access, or copy the folder from another machine"
        )
    answer = " ".join(str(error).split())
    if isinstance(error, HfHubHTTPError | httpx2.HTTPError | LocalEntryNotFoundError):
        answer = " ".join(str(error.__cause__ or error).split())
        return (
            f"{what}: the hub does not answer ({answer:.120}) and {folder} is incomplete{stand_in}"
            "; start again later, downloaded files are kept"
        )
    if "Consistency check failed" in answer:
        return f"{what}: a downloaded file is truncated ({answer:.120}); start again"
    raise error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a task's name, or a corpus of tasks/corpora.py")
    parser.add_argument("--revision", help="40 hexadecimal digits (default: the source's own)")
    parser.add_argument("--folder", required=True, help="where the files and the manifest go")
    args = parser.parse_args()
    if not sys.stderr.isatty():
        disable_progress_bars()
    manifest = fetch(args.name, args.revision, args.folder)
    size = sum(facts["size"] for facts in manifest["files"].values())
    print(
        f"{manifest['repo']} at {manifest['revision']}: {len(manifest['files'])} files, "
        f"{size:,} bytes, licence: {manifest['licence']}"
    )


if __name__ == "__main__":
    sys.exit(run(main))
