"""Fetch a task or a corpus from the Hugging Face hub, at one commit, into a folder.

    python -m tasks.fetch cola --revision bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c --folder raw/cola

The manifest is written last, so a folder with a manifest is complete. A second run needs no network
if the files are as the manifest records; else only missing or changed files are fetched. A folder
holds one commit for good.
"""

import argparse
import errno
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import httpx2
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )
    from huggingface_hub.utils import WeakFileLock, disable_progress_bars

    from tasks import TASKS
    from tasks.common.files import FULL, REMEDIES, sha256_file, write_json
    from tasks.corpora import CORPORA
    from tasks.dprd import dprd
    from tasks.hub import MANIFEST, HubSource, Snapshot, as_recorded, matching, pinned
    from tasks.hub_limits import limit_answers

# What a file system without locks answers (NFS, Lustre).
# What an answer that is no listing makes of itself somewhere in the library.
FAULTS = (
    httpx2.HTTPError,
    OSError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
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
    commit, folder = pinned(source, revision), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with WeakFileLock(folder / ".lock"):
            files = intact_files(source, commit, folder)
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
    except FAULTS as error:
        raise InputError(explain(error, source, commit, folder)) from None
    return manifest


def intact_files(source: HubSource, commit: str, folder: Path) -> dict[str, dict] | None:
    """The files of a complete earlier download; None if there is none, or one has changed.

    Raises InputError if the folder holds another repository or commit.
    """
    if not (folder / MANIFEST).exists():
        return None
    snapshot = Snapshot(source, folder, commit)
    _ = snapshot.origin
    files = snapshot.manifest()["files"]
    complete = all(matching([pattern], files) for pattern in source.patterns)
    intact = all(as_recorded(folder / name, facts) for name, facts in files.items())
    return files if complete and intact else None


def download(source: HubSource, commit: str, folder: Path, endpoint: str | None) -> dict[str, dict]:
    """Fetch missing and changed files and return size and sha256 of every file.

    The files are compared with the hub's digests before, because the library takes a file that it
    once fetched for whole, and afterwards, because it compares no digests at all.
    """
    limit_answers()
    constants.HF_HUB_DISABLE_XET = True  # plain HTTP instead, which obeys these limits
    what: dict[str, Any] = {"repo_id": source.repo, "repo_type": "dataset", "revision": commit}
    api = HfApi(endpoint)
    found = api.verify_repo_checksums(**what, local_dir=folder)
    for name in found.missing_paths:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise InputError(f"{source.repo} at {commit}: lists {name!r}, outside of its folder")
    for file in found.mismatches:
        (folder / file["path"]).unlink()
    patterns = [*source.patterns, "README.md"]  # a branch of converted files has no card
    snapshot_download(**what, allow_patterns=patterns, local_dir=folder, endpoint=endpoint)
    found = api.verify_repo_checksums(**what, local_dir=folder)
    wrong = [file["path"] for file in found.mismatches]
    for name in wrong:
        (folder / name).unlink()
    if wrong or (wrong := matching(patterns, found.missing_paths)):
        raise InputError(
            f"{folder}/{wrong[0]}: what was downloaded is not the file that {source.repo} lists; "
            "it was removed, so run the command again"
        )
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = matching(patterns, (path.relative_to(folder).as_posix() for path in paths))
    for pattern in source.patterns:
        if not matching([pattern], names):
            raise InputError(
                f"{source.repo} at {commit}: no file {pattern}; the layout of this commit is "
                "unknown: use another revision"
            )
    return {
        name: {"size": (folder / name).stat().st_size, "sha256": sha256_file(folder / name)}
        for name in names
    }


def explain(error: Exception, source: HubSource, commit: str, folder: Path) -> str:
    """A one-line explanation of a hub, network or disk error, with its remedy."""
    for refusal, text in REFUSALS.items():
        if isinstance(error, refusal):
            return text.format(repo=source.repo, commit=commit)
    what = f"{source.repo} at {commit}"
    if isinstance(error, OfflineModeIsEnabled):
        return (
            f"{what} is incomplete in {folder} and HF_HUB_OFFLINE is set; unset it and run this "
            "once with network access, or copy the folder from another machine"
        )
    if isinstance(error, OSError) and error.errno in FULL:
        return f"{folder}: {error.strerror}; {REMEDIES[error.errno]}, downloaded files are kept"
    if isinstance(error, OSError) and error.errno in NO_LOCKS:
        return (
            f"{folder}: {error.strerror}; fetching needs a file system with locks: fetch into a "
            "--folder on one, and move that folder here"
        )
    answer = " ".join(f"{type(error).__name__}: {error.__cause__ or error}".split())
    return (
        f"{what}: the hub does not answer as expected ({answer:.160}) and {folder} is incomplete; "
        "start again later, downloaded files are kept"
    )


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
