"""How words are put into sentences."""

from tasks.world.lexicon import NAMES, OTHERS


def np(noun: str) -> str:
    """A noun phrase; names and other people take no article."""
    return noun if noun in NAMES or noun in OTHERS else f"the {noun}"


def sentence(clause: str, mark: str = ".") -> str:
    """A written sentence: a capital letter, no space before commas, a mark at the end."""
    text = clause.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark
