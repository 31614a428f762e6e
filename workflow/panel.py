"""The panel that shows the progress of a run on a terminal."""

import logging
import re
from collections import Counter

# Rules that a loop makes, such as samples_lstm_ablation.
KINDS = re.compile(r"(tables|samples|finetune|pretrain|cloze|zero_shot|contamination|baselines)_.+")


def by_kind(record: logging.LogRecord) -> bool:
    """A filter of Snakemake's log that passes every record and counts jobs of one kind together.

    The panel has a bar for each rule. There are fifty rules, a terminal may have 24 lines, and a
    panel taller than the terminal leaves some of its lines on the screen at the end.
    """
    said = vars(record)
    if "rule_name" in said:
        said["rule_name"] = KINDS.sub(r"\1", said["rule_name"])
    if "stats" in said:
        counts: Counter[str] = Counter()
        for rule, count in said["stats"].items():
            counts[KINDS.sub(r"\1", rule)] += count
        said["stats"] = dict(counts)
    return True
