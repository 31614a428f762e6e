"""Damage done to files at random, and what a reader may do with it: read it, or refuse it in one
line of ours, within bounds of time and memory."""

import contextlib
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from tasks.common.errors import InputError
from workflow.configuration.read import ConfigError

SECONDS, BYTES = 10, 2 << 30  # of the processor, of address space, for one value
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
            st.sampled_from([b"", span * 2, span * 300])
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
    damaged: Callable[[Path], bool] = lambda path: True,
    repair: Callable[[], object] = lambda: None,
) -> None:
    """Damage one of a folder's files at a time and `read`.

    `damaged` chooses the files; `repair` renews the digests that would refuse any change at once.
    """
    read()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = {path: path.read_bytes() for path in files}
    candidates = [path.relative_to(folder) for path in files if damaged(path)]

    def once(data: st.DataObject) -> None:
        path = folder / data.draw(st.sampled_from(candidates))
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
    with bounded_memory():
        hypothesis.given(strategy)(test)()


@contextlib.contextmanager
def only_our_errors() -> Iterator[None]:
    """Pass an error in one line of ours, and no other; stop what takes more than SECONDS."""
    try:
        with bounded_time():
            yield
    except InputError as error:
        faults = [str(error)]
    except ConfigError as error:
        faults = error.faults
    else:
        faults = []
    for fault in faults:
        assert "\n" not in fault and len(fault) < 1000, fault


class TooLong(BaseException):
    """Ends a reader while it runs; it catches no such exception as one of its own."""


@contextlib.contextmanager
def bounded_time() -> Iterator[None]:
    """Stop a block after SECONDS of the processor."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    except TooLong as stopped:
        raise AssertionError(f"more than {SECONDS} s of the processor") from stopped
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Refuse more address space than there is now and BYTES, where the system can tell."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        yield
        return
    now = int(statm.read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + BYTES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
