"""Limits on what a hub may answer: silence, bytes, seconds and pages, for every request of a fetch.

`huggingface_hub` asks without a time limit, follows any number of pages, and reads an answer to its
end however long that is. Its HTTP client can be replaced, which is done here.
"""

import time
from collections.abc import Callable, Iterator

import httpx2
from huggingface_hub import set_client_factory

from tasks.common.errors import InputError

SILENCE_SECONDS = 20  # without a byte; the library asks five times more
LISTING_BYTES, LISTING_SECONDS = 2**26, 300
FILE_BYTES, FILE_SECONDS = 2**35, 6 * 3600
PAGES = 1000  # of a listing, with 1,000 files each


class _Body(httpx2.SyncByteStream):
    """The body of an answer, of at most so many bytes and seconds."""

    def __init__(self, body: httpx2.SyncByteStream, n_bytes: int, seconds: float):
        self.body, self.n_bytes, self.seconds = body, n_bytes, seconds

    def __iter__(self) -> Iterator[bytes]:
        end, left = time.monotonic() + self.seconds, self.n_bytes
        for part in self.body:
            left -= len(part)
            if left < 0:
                raise InputError(f"an answer of the hub has more than {self.n_bytes:,} bytes")
            if time.monotonic() > end:
                raise InputError(f"an answer of the hub takes more than {self.seconds:,} seconds")
            yield part

    def close(self) -> None:
        self.body.close()


def limit_answers() -> None:
    """Let `huggingface_hub` use a client, from now on, that raises InputError beyond a limit."""
    pages = 0

    def limit_silence(request: httpx2.Request) -> None:
        kinds = ("connect", "read", "write", "pool")
        request.extensions |= {"timeout": dict.fromkeys(kinds, SILENCE_SECONDS)}
        request.headers["accept-encoding"] = "identity"

    def limit_body(response: httpx2.Response) -> None:
        nonlocal pages
        listing = response.request.url.path.startswith("/api/")
        pages += listing
        if pages > PAGES:
            raise InputError(f"the hub's listing has more than {PAGES:,} pages")
        if (coding := response.headers.get("content-encoding", "identity")) != "identity":
            # A small answer of this kind can be unpacked into any number of bytes.
            raise InputError(f"an answer of the hub is compressed ({coding}), which was not asked")
        limits = (LISTING_BYTES, LISTING_SECONDS) if listing else (FILE_BYTES, FILE_SECONDS)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Body(response.stream, *limits)

    def client() -> httpx2.Client:
        hooks: dict[str, list[Callable[..., None]]]
        hooks = {"request": [limit_silence], "response": [limit_body]}
        return httpx2.Client(event_hooks=hooks, follow_redirects=True)

    set_client_factory(client)
