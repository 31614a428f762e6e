"""A stand-in for the Hugging Face hub on 127.0.0.1: what a fetch asks for, and what may go wrong.

It serves data sets as {repository: {commit: {path: content}}}. Errors carry the hub's own
`X-Error-Code`, by which the library chooses its exception.
"""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

Repositories = dict[str, dict[str, dict[str, bytes]]]
API = re.compile(r"/api/datasets/([^/]+/[^/]+)/(?:tree|revision)/([^/]+)")
FILE = re.compile(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")


class Hub:
    """The server, and what is wrong with it.

    `gated`: repositories that ask for a token. `closed`: those that list their files to everyone
    but ask for a token where one is fetched. `served`: content that is sent in place of what the
    tree lists, by path. `short`: a path of which half is sent. `cut`: one in whose middle the hub
    goes down. `down`: whether every connection is closed without an answer. `silent`: whether
    connections stay open without one. `listing`: what is sent in place of every listing.
    `requests`: what was asked for, "GET path".
    """

    def __init__(self, repositories: Repositories) -> None:
        self.repositories = repositories
        self.heal()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.hub = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def heal(self) -> None:
        """Take all faults away and forget the requests."""
        self.gated: set[str] = set()
        self.closed: set[str] = set()
        self.served: dict[str, bytes] = {}
        self.short: str | None = None
        self.cut: str | None = None
        self.down = False
        self.silent = False
        self.listing: bytes | None = None
        self.requests: list[str] = []

    def fetched(self) -> list[str]:
        """The paths of the files whose content was asked for, sorted."""
        gets = (FILE.search(request) for request in self.requests if request.startswith("GET"))
        return sorted(found[3] for found in gets if found)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        hub: Hub = self.server.hub
        path = urlsplit(self.path).path
        hub.requests.append(f"{self.command} {path}")
        if hub.down:
            self.close_connection = True
            return
        if hub.silent:
            threading.Event().wait(1)  # tests take the waiting out of time.sleep
            self.close_connection = True
            return
        if api := API.fullmatch(path):
            listing = hub.listing
            if listing is None and (files := self._commit(api[1], unquote(api[2]))):
                listed = [_listed(name, content) for name, content in files.items()]
                listing = json.dumps(listed).encode()
            if listing is not None:
                self._send(200, listing, {"Content-Type": "application/json"})
        elif file := FILE.fullmatch(path):
            commit, name = unquote(file[2]), unquote(file[3])
            if file[1] in hub.closed:
                self._error(403, "GatedRepo")
            elif files := self._commit(file[1], commit):
                self._file(commit, name, files)
        else:
            self._error(404, "EntryNotFound")

    def _commit(self, repository: str, commit: str) -> dict[str, bytes] | None:
        """The files of a commit; None where an error has been sent."""
        hub: Hub = self.server.hub
        if repository not in hub.repositories:
            self._error(401, "RepoNotFound")
        elif repository in hub.gated:
            self._error(401, "GatedRepo")
        elif commit not in hub.repositories[repository]:
            self._error(404, "RevisionNotFound")
        else:
            return hub.repositories[repository][commit]
        return None

    def _file(self, commit: str, name: str, files: dict[str, bytes]) -> None:
        hub: Hub = self.server.hub
        if name not in files:
            return self._error(404, "EntryNotFound")
        content, is_get = hub.served.get(name, files[name]), self.command == "GET"
        if name == hub.short and is_get:
            content = content[: len(content) // 2]
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        stop = len(content)
        if name == hub.cut and is_get:
            hub.down = self.close_connection = True
            stop //= 2
        headers = {"Content-Length": len(content) - start, "X-Repo-Commit": commit}
        headers["ETag"] = f'"{hashlib.sha256(files[name]).hexdigest()}"'
        return self._send(206 if start else 200, content[start:stop], headers)

    def _error(self, status: int, code: str) -> None:
        self._send(status, b"", {"X-Error-Code": code})

    def _send(self, status: int, body: bytes, headers: dict[str, Any]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body if self.command == "GET" else b"")

    def log_message(self, *_: Any) -> None:
        pass


def _listed(path: str, content: bytes) -> dict[str, Any]:
    """A file in the tree; all but small text lies in large file storage, with its sha256."""
    git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    found = {"type": "file", "oid": git, "size": len(content), "path": path}
    if not path.endswith(".md"):
        sha256 = hashlib.sha256(content).hexdigest()
        found["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 134}
    return found
