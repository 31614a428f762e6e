"""The corpora of the Hugging Face hub that the model can be pre-trained on."""

from tasks.common.errors import InputError
from tasks.hub import THREE_SPLITS, HubSource, parquet_files

CORPORA: tuple[HubSource, ...] = (
    HubSource(
        name="bookcorpus",  # one sentence per row, without book boundaries
        repo="bookcorpus/bookcorpus",
        # From a pull request with parquet files: the main branch is a script that no longer loads.
        revision="d904700c5e5d69e71bcadbe182d2c5201fbbb007",
        config="plain_text",
        licence="unknown (terms of Smashwords)",
        files=parquet_files("plain_text", {"train": "train"}),
        rows={"train": 74_004_228},
        texts=("text",),
    ),
    HubSource(
        name="bookcorpus_text",  # one sentence per line, without book boundaries
        repo="rojagtap/bookcorpus",
        revision=None,
        licence="mit according to the uploader (unverified)",
        files={"train": ("books_large_p1.txt", "books_large_p2.txt")},
        lines=True,
        note="the commit begins with 7600e0b",
    ),
    HubSource(
        name="wikitext103",
        repo="Salesforce/wikitext",
        revision="b08601e04326c79dfdd32d625aee71d232d685c3",
        config="wikitext-103-raw-v1",
        licence="cc-by-sa-3.0, gfdl",
        files=parquet_files("wikitext-103-raw-v1", THREE_SPLITS),
        rows={"train": 1_801_350, "dev": 3_760, "test": 4_358},
        texts=("text",),
    ),
    HubSource(
        name="lm1b",
        repo="billion-word-benchmark/lm1b",
        # From the branch refs/convert/parquet: the main branch is a script.
        revision="8d52bfd3cc2819fc1166dbb8144c328e2690de3e",
        config="plain_text",
        licence="none on the card",
        files={split: (f"plain_text/{split}/*.parquet",) for split in ("train", "test")},
        rows={"train": 30_301_028, "test": 306_688},
        texts=("text",),
    ),
    HubSource(
        name="tinystories",
        repo="roneneldan/TinyStories",
        revision="f54c09fd23315a6f9c86f9dc80f725de7d8f9c64",
        config="default",
        licence="cdla-sharing-1.0",
        files=parquet_files("data", {"train": "train", "dev": "validation"}),
        rows={"train": 2_119_719, "dev": 21_990},
        texts=("text",),
    ),
)


def corpus(name: str) -> HubSource:
    """The corpus of that name. Raises InputError for any other."""
    known = {source.name: source for source in CORPORA}
    if name not in known:
        raise InputError(f"no corpus {name!r} of the hub; the corpora are {' '.join(known)}")
    return known[name]
