"""Typed settings of the corpus: where its text comes from and what of it is held out."""

from typing import Annotated, Literal

from pydantic import Field

from tasks.common.settings import Commit, Count, DataPath, Settings, SplitName

Name = Annotated[str, Field(min_length=1)]
CorpusName = Literal["bookcorpus", "bookcorpus_text", "wikitext103", "lm1b", "tinystories"]


class CorpusSettings(Settings):
    """The corpus: a folder of .txt books, or one of the corpora of the Hugging Face hub."""

    folder: DataPath | None = None
    """Folder of UTF-8 .txt books under the data folder, such as books."""
    source: CorpusName | None = None
    """In place of folder: a corpus of the Hugging Face hub."""
    revision: Commit | None = None
    """The commit of the hub's repository, 40 hexadecimal digits (default: the one that the suite
    pins)."""
    min_rows: dict[SplitName, Count] | None = None
    """If the files are a subset of the published ones, the minimum number of rows of a split, such
    as {train: 1000000}."""
    heldout: (
        Annotated[int, Field(ge=1)]
        | Annotated[list[Name], Field(min_length=1)]
        | Literal["official"]
    )
    """The documents that perplexity is measured on: a number of them (chosen by the digest of their
    names), a list of file names, or official, the publisher's own test or validation split."""
