"""What the eight sets of the GLUE benchmark share: one repository on the hub, one way to get them.

The test labels are not public, so these sets are scored on dev, and their test rows are answered
for the GLUE server.
"""

from tasks.hub import HubSource, parquet_files

OBTAIN = "get it from the GLUE benchmark (gluebenchmark.com/tasks) and unpack it there"
TEST = {"test": ("test.tsv",)}


def source(
    name: str, texts: tuple[str, ...], labels: tuple[str, ...], **rows: int
) -> HubSource:
    """A configuration of the GLUE repository; `rows` of each split, by the hub's names."""
    splits = {split.replace("validation", "dev"): split for split in rows}
    return HubSource(
        name=name,
        repo="nyu-mll/glue",
        revision="bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
        config=name,
        licence="other (GLUE: each set its own)",
        files=parquet_files(name, splits),
        rows=dict(zip(splits, rows.values(), strict=True)),
        columns=(*texts, "label", "idx"),
        texts=texts,
        index="idx",
        label="label",
        labels=dict(enumerate(labels)),
        unlabelled=tuple(split for split in splits if split.startswith("test")),
    )
