"""The panel that shows the progress of a run on a terminal."""

import logging
import re
from collections import Counter

# Rules that a loop makes, such as table_main and table_cost, and those for the negative controls.
KINDS = re.compile(r"(table|figure|samples|finetune|pretrain|probes|zero_shot|contamination)_.+")


def by_kind(record: logging.LogRecord) -> bool:
    """A filter of Snakemake's log that lets all pass and counts the jobs of one kind together.

    The panel has a bar for each rule, and what does not fit a terminal's 24 lines stays on it.
    """
    if hasattr(record, "rule_name"):
        record.rule_name = KINDS.sub(r"\1", record.rule_name)
    if hasattr(record, "stats"):
        counts: Counter[str] = Counter()
        for rule, count in record.stats.items():
            counts[KINDS.sub(r"\1", rule)] += count
        record.stats = dict(counts)
    return True
