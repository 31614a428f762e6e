"""How words are put into sentences."""

from tasks.world.lexicon import NAMES


def np(noun: str) -> str:
    """A noun phrase; a name takes no article."""
    return noun if noun in NAMES else f"the {noun}"


def sentence(clause: str, mark: str = ".") -> str:
    """A written sentence: a capital letter, no space before commas, a mark at the end."""
    text = clause.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark
