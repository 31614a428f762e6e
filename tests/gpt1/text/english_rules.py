"""Write spaCy's English rules as the table that `gpt1.text.normalise` reads.

python -m tests.gpt1.text.english_rules > gpt1/text/english_rules.json
"""

import json

import spacy
from spacy.lang.char_classes import UNITS
from spacy.symbols import ORTH

NOTICE = (
    "Generated from spaCy {version}'s English tokenizer by tests/gpt1/text/english_rules.py. "
    "Copyright (C) 2016-2024 ExplosionAI GmbH, 2016 spaCy GmbH, 2015 Matthew Honnibal, under the "
    "MIT License, whose text the file LICENSE has."
)


def table() -> str:
    """The rules as JSON: regular expressions as spaCy compiles them, exceptions as their parts."""
    tokenizer = spacy.blank("en").tokenizer
    parts_of = {word: [part[ORTH] for part in parts] for word, parts in tokenizer.rules.items()}
    rules = {
        "notice": NOTICE.format(version=spacy.__version__),
        "spacy": spacy.__version__,
        "prefix": tokenizer.prefix_search.__self__.pattern,
        "suffix": tokenizer.suffix_search.__self__.pattern,
        "infix": tokenizer.infix_finditer.__self__.pattern,
        "url": tokenizer.url_match.__self__.pattern,
        "units": UNITS,
        # No word has white space in it, and no part.
        "exceptions": {
            word: " ".join(parts) for word, parts in sorted(parts_of.items()) if word.strip()
        },
    }
    return json.dumps(rules, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    print(table(), end="")
