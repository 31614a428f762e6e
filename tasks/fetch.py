"""Fetch a task or a corpus from the Hugging Face hub, at one commit, into a folder.

    python -m tasks fetch cola --revision bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c --folder raw/cola

The manifest is written last, so a folder with a manifest is complete. A second run needs no network
if the files are as the manifest records; else only missing or changed files are fetched. A folder
never changes its commit.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import httpx2
from huggingface_hub import (
    HfApi,
    constants,
    is_offline_mode,
    set_client_factory,
    snapshot_download,
)
from huggingface_hub.errors import (
    GatedRepoError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import disable_progress_bars

from tasks import TASKS, task
from tasks.common.errors import InputError
from tasks.common.files import (
    MANIFEST,
    described,
    read_manifest,
    refuse_others,
    write_json,
    writing,
)
from tasks.hub import CORPORA, HubSource, Snapshot, matching, pinned
from tasks.paper import dprd
from tasks.settings import OwnTask

SILENCE_SECONDS = 20  # without a byte; the library then retries five times
GONE = {  # the first match counts: GatedRepoError is a subclass of RepositoryNotFoundError
    GatedRepoError: "the repository is gated: accept its terms on the hub and set HF_TOKEN",
    RepositoryNotFoundError: "the repository is withdrawn or private: give HF_TOKEN, or a folder",
    RevisionNotFoundError: "the commit is gone: give another as revision:, or a folder",
}


def source_named(name: str) -> HubSource:
    """The source of a task or a corpus. Raises InputError for any other name."""
    sources = {source.name: source for source in (*(task.hub for task in (*TASKS, dprd)), *CORPORA)}
    if name not in sources:
        raise InputError(f"no data set {name!r} to fetch; there are {' '.join(sources)}")
    return sources[name]


def fetch(
    name: str,
    revision: str | None,
    folder: str | Path,
    endpoint: str | None = None,
    own: OwnTask | None = None,
) -> dict:
    """Fetch a data set into `folder` and return its manifest; `revision` None: the source's own.

    `own` describes a user's own task. `endpoint` is the hub's address; None means HF_ENDPOINT, or
    else the public hub. Raises InputError if the hub, the network or the disk fails, and for files
    that differ from the hub's listing.
    """
    source, folder = task(name, own).hub if own else source_named(name), Path(folder)
    commit = pinned(source, revision)
    if not is_whole(Snapshot(source, folder, commit)):
        if is_offline_mode():
            raise InputError(
                f"{source.repo} at {commit} is incomplete in {folder} and HF_HUB_OFFLINE is set; "
                "unset it, or copy the folder from another machine"
            )
        if not (folder / ".cache").exists():  # which an earlier attempt has left
            refuse_others(folder, MANIFEST)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with writing(folder):
                names = download(source, commit, folder, endpoint)
        except InputError:
            raise
        except Exception as error:  # anything the library raises, as it trusts the hub's answers
            answer = " ".join(f"{type(error).__name__}: {error}".split())
            gone = (remedy for kind, remedy in GONE.items() if isinstance(error, kind))
            later = f"{folder} is incomplete, downloaded files are kept: start again later"
            raise InputError(
                f"{source.repo} at {commit}: not as expected ({answer:.200}); {next(gone, later)}"
            ) from None
        facts = {
            "name": name,
            "repo": source.repo,
            "revision": commit,
            "config": source.config,
            "licence": source.licence,
            "files": described(folder, names),
        }
        write_json(folder / MANIFEST, facts)
    return read_manifest(folder, "fetch it again")


def is_whole(snapshot: Snapshot) -> bool:
    """Whether all files are present and as fetched. Raises InputError for another commit."""
    if not Path(snapshot.folder, MANIFEST).exists():
        return False
    _ = snapshot.origin
    try:
        for split in snapshot.source.files:
            snapshot.checked_files(split)
    except InputError:
        return False
    return True


def download(source: HubSource, commit: str, folder: Path, endpoint: str | None) -> list[str]:
    """Fetch missing and changed files and return the names of all, relative to the folder.

    The library assumes that a file it once fetched is whole and compares no digests, so they are
    compared here: a file that differs from the hub's listing is removed and fetched once more. It
    would also wait for a silent hub for ever.
    """

    def limit(request: httpx2.Request) -> None:
        kinds = ("connect", "read", "write", "pool")
        request.extensions |= {"timeout": dict.fromkeys(kinds, SILENCE_SECONDS)}

    hooks = {"request": [limit]}
    set_client_factory(lambda: httpx2.Client(event_hooks=hooks, follow_redirects=True))
    constants.HF_HUB_DISABLE_XET = True  # plain HTTP instead, which obeys these limits
    # The library caches the listing of a commit for good, even a wrong one.
    shutil.rmtree(folder / ".cache" / "huggingface" / "trees", ignore_errors=True)
    what: dict[str, Any] = {"repo_id": source.repo, "repo_type": "dataset", "revision": commit}
    patterns = [*source.patterns, "README.md"]  # a branch of converted files has no card
    for _ in range(2):
        snapshot_download(**what, allow_patterns=patterns, local_dir=folder, endpoint=endpoint)
        compared = HfApi(endpoint).verify_repo_checksums(**what, local_dir=folder)
        wrong = [file["path"] for file in compared.mismatches]
        for name in wrong:
            (folder / name).unlink()
        if not wrong:
            break
    else:
        raise InputError(
            f"{folder}/{wrong[0]}: what was downloaded is not the file that {source.repo} lists; "
            "it was removed, so run the command again"
        )
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = matching(patterns, [path.relative_to(folder).as_posix() for path in paths])
    for pattern in source.patterns:
        if not matching([pattern], names):
            raise InputError(
                f"{source.repo} at {commit}: no file {pattern}; the layout of this commit is "
                "unknown: use another revision"
            )
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a task's name, or a corpus of tasks/hub.py")
    parser.add_argument("--revision", help="40 hexadecimal digits (default: the source's own)")
    parser.add_argument("--folder", required=True, help="where the files and the manifest go")
    parser.add_argument("--own", type=OwnTask.parse, help="JSON of what a task of your own is")
    args = parser.parse_args()
    if not sys.stderr.isatty():
        disable_progress_bars()
    fetched = fetch(args.name, args.revision, args.folder, own=args.own)
    print(
        f"{fetched['repo']} at {fetched['revision']}: {len(fetched['files'])} files, "
        f"licence: {fetched['licence']}"
    )
