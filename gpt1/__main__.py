"""The programs of GPT-1: `python -m gpt1 --help` lists them."""

import os
import signal
import sys

from tasks.common.programs import answer_signals, door

PROGRAMS = {
    "corpus": "gpt1.corpus",
    "tokenizer": "gpt1.text.tokenizer",
    "encode": "gpt1.encode",
    "pretrain": "gpt1.pretrain",
    "permute": "gpt1.permute",
    "vectors": "gpt1.vectors",
    "finetune": "gpt1.finetune",
    "zero_shot": "gpt1.zero_shot",
    "cloze": "gpt1.cloze",
    "contamination": "gpt1.contamination",
    "convert": "gpt1.convert",
    "predict": "gpt1.predict",
    "generate": "gpt1.generate",
    "devices": "gpt1.training.devices",
}


def leave_signals_to_the_first() -> None:
    """Ignore the signals in all but the first of several processes, which decides when to stop."""
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("RANK", "0") != "0":
        answer_signals(signal.SIG_IGN)


if __name__ == "__main__":
    leave_signals_to_the_first()
    sys.exit(door("gpt1", PROGRAMS))
