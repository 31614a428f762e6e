"""Damage done to files at random, and what a reader may do with it: read it, or refuse it in one
line of ours, within bounds of memory, and of time (`conftest.py`)."""

import contextlib
import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from workflow.configuration.read import ConfigError

BYTES = 2 << 30  # of address space beyond that of now
# What formats treat in a special way, and what is too much of a thing.
WORDS = [
    *(b"\0", b"\xff", b"\n", b"\r", b"\t", b" ", b'"', b"'", b",", b":", b"[", b"]", b"{", b"}"),
    *(b"-1", b"0", b"9" * 25, b"1" * 5000, b"1e999", b"NaN", b"null", b"true", b"[]", b"{}"),
    *(b"[" * 5000, b"{a: " * 2000, b"\\ud800", b"\\u0000", b"\xef\xbb\xbf", "é\u2028".encode()),
    *(b"../", b"/", b"!!int x", b"!!python/name:os.system", b"&a", b"*a", b"2020-99-99", b"PK\3\4"),
]


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """A content after one to three edits: a bit flipped, a span cut, repeated or inserted."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.integers(1, 40) | st.just(len(content))))
        span = content[start:stop]
        new = draw(
            st.sampled_from([b"", span * 2, span[:2000] * 300])
            | st.sampled_from(WORDS)
            | st.integers(0, 7).map(lambda bit, s=span: flipped(s, bit))
            | st.binary(max_size=8)
        )
        content = content[:start] + new + content[draw(st.sampled_from([start, stop])) :]
    return content


def flipped(span: bytes, bit: int) -> bytes:
    """A span with a bit of its first byte flipped."""
    return bytes([span[0] ^ 1 << bit]) + span[1:] if span else span


def anything(content: bytes) -> st.SearchStrategy[bytes]:
    """Mostly a damaged `content`; sometimes arbitrary bytes or text."""
    return mutated(content) | mutated(content) | st.binary() | st.text().map(surely_encoded)


def surely_encoded(text: str) -> bytes:
    """A text's bytes; those of a surrogate are not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def fuzz(
    folder: Path,
    read: Callable[[], object],
    damaged: str = "*",
    repair: Callable[[], object] = lambda: None,
) -> None:
    """Damage one of a folder's files at a time and `read`.

    `damaged` is the pattern of their names; `repair` renews the digests that would refuse any
    change at once.
    """
    read()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = {path: path.read_bytes() for path in files}
    candidates = [path for path in files if path.match(damaged)]

    def once(data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(candidates))
        path.write_bytes(data.draw(anything(contents[path])))
        try:
            with only_our_errors():
                repair()
                read()
        finally:
            for place, content in contents.items():
                place.write_bytes(content)

    repeat(once, st.data())


def repeat(test: Callable[[Any], None], strategy: st.SearchStrategy) -> None:
    """Run a test on as many values as the profile says."""
    statm, limits = Path("/proc/self/statm"), resource.getrlimit(resource.RLIMIT_AS)
    if statm.exists():  # else the system cannot tell
        now = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + BYTES, limits[1]))
    try:
        hypothesis.given(strategy)(test)()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@contextlib.contextmanager
def only_our_errors() -> Iterator[None]:
    """Pass an error in one line of ours, and no other."""
    try:
        yield
    except InputError as error:
        faults = [str(error)]
    except ConfigError as error:
        faults = error.faults
    else:
        faults = []
    for fault in faults:
        assert "\n" not in fault and len(fault) < 1000, fault


def without_checksums(folder: Path) -> None:
    """Rewrite all JSON objects of a folder without the checksum that would refuse any change."""
    for path in folder.rglob("*.json"):
        value = json.loads(path.read_text())
        if isinstance(value, dict) and value.pop("checksum", None):
            path.write_text(json.dumps(value))


def renewed(facts: Path, file: Path) -> Callable[[], None]:
    """What writes a file's digest of the moment into `facts`, in the place of the one of now."""
    whole = sha256_file(file)

    def renew() -> None:
        text = facts.read_text(errors="surrogateescape")
        if file.is_file():
            text = text.replace(whole, sha256_file(file))
        facts.write_text(text, errors="surrogateescape")

    return renew
