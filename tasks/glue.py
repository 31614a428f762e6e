"""What the eight GLUE sets share: one repository on the hub, and one way to obtain them.

The test labels are not public, so these sets are scored on dev; predictions on their test rows are
for the GLUE server.
"""

from typing import Any

from tasks.hub import HubSource, parquet_files
from tasks.readers import Table
from tasks.task import Task


def task(
    title: str, table: Table, texts: tuple[str, ...], rows: dict[str, int], **fields: Any
) -> Task:
    """Define one of the sets; its title is also the name of its folder.

    `texts` are its text columns on the hub. `rows` has the row count of every split by the hub's
    name (`validation` for our dev); splits whose names start with `test` have no public labels.
    `fields` are further fields of `Task`.
    """
    splits = {split.replace("validation", "dev"): split for split in rows}
    counts = dict(zip(splits, rows.values(), strict=True))
    test = tuple(split for split in splits if split.startswith("test"))
    soft = fields.get("metric") == "pearson"
    hub = HubSource(
        name=fields["name"],
        repo="nyu-mll/glue",
        revision="bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
        config=fields["name"],
        licence="other (GLUE: each set its own)",
        files=parquet_files(fields["name"], splits),
        texts=texts,
        index="idx",
        label="label",
        labels={} if soft else dict(enumerate(fields["labels"])),
        unlabelled=test,
    )
    defaults: dict[str, Any] = {"report": ("dev",), "folder": title, "layouts": (table,)}
    return Task(
        title=title,
        rows={split: n for split, n in counts.items() if split not in test},
        obtain="download it from gluebenchmark.com/tasks and unpack it there",
        hub=hub,
        unlabelled={split: (f"{split}.tsv",) for split in test},
        unlabelled_rows={split: counts[split] for split in test},
        **(defaults | fields),
    )
