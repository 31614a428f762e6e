"""The right choice of a cloze item, derived from its text by the oracle's rules."""

from tasks.world.draw import HYPONYM
from tests.world import oracle, parser
from tests.world.grammar import is_grammatical


def right_choices(skill: str, context: str, choices: list[str]) -> list[bool]:
    """Of each choice, whether it is right."""
    match skill:
        case "agreement" | "reflexive":
            return [is_grammatical(f"{context} {choice}") for choice in choices]
        case "opinion" | "conceded opinion" | "denied opinion":
            positive = parser.read_remark(context).positive
            return [(choice == "Very positive.") == positive for choice in choices]
        case "ending" | "ending of two" | "ending and liking":
            right = oracle.ending(context, tuple(choices))
            return [place == right for place in range(len(choices))]
        case "energy" | "energy of two" | "seldom":
            told = parser.read_clauses(context)
            return [oracle.follows(told, choice) for choice in choices]
        case "surprise":
            told = parser.read_clauses(context)
            return [oracle.turned_out(told, choice) for choice in choices]
        case "category":
            kind = parser.read_found(parser.sentences(context)[0])
            return [parser.noun(choice[:-1]) == HYPONYM[kind] for choice in choices]
        case "ability":
            fact, start = parser.sentences(context)
            return [oracle.can(fact, f"{start} {choice}") for choice in choices]
        case "pronoun":
            told, question = parser.sentences(context)
            pronoun, *reason = told.partition(" because ")[2].split()
            assert reason == question.split()[1:]
            return [parser.pronoun_of(parser.noun(choice[:-1])) == pronoun for choice in choices]
    raise ValueError(f"no rules for {skill!r}")
