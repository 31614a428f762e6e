"""The right choice of a probe, derived from its text by the oracle's rules."""

from tasks.world.lexicon import CLASSES
from tests.world.oracle import THREE, equivalent, follows, is_fact, race, three_way
from tests.world.oracle_rules import ending, is_grammatical, is_positive, subject_of_reason
from tests.world.parser import sentences, tokens


def right_choices(skill: str, context: str, choices: list[str]) -> list[bool]:
    """Of each choice, whether it is right."""
    last = [tokens(choice)[-1] for choice in choices]
    *before, open_end = sentences(context)
    match skill:
        case "agreement":
            return [is_grammatical(f"{context} {choice}") for choice in choices]
        case "opinion":
            return [(word == "positive") == is_positive(context) for word in last]
        case "ending":
            right = ending(context, tuple(choices))
            return [k == right for k in range(len(choices))]
        case "state":
            return [
                (word in CLASSES["certain"]) != (tokens(open_end)[-1] == "not") for word in last
            ]
        case "claim":
            said = dict(zip(THREE, ("yes", "perhaps", "no"), strict=True))[
                three_way(*before, open_end)
            ]
            return [word == said for word in last]
        case "comparison":
            return [(word == "same") == equivalent(before[0], open_end) for word in last]
        case "ability":
            denied = tokens(context)[-1] == "not"
            kind = " ".join(tokens(context)[:2])
            return [is_fact(f"{kind} {choice}.", "") != denied for choice in choices]
        case "category":
            claims = [f"{open_end.removeprefix('So ')} {choice}" for choice in choices]
            return [follows(claim, before[0]) for claim in claims]
        case "synonym of a verb" | "synonym of a noun":
            return [equivalent(before[0], choice) for choice in choices]
        case "kind of answer" | "copying" | "reading":
            right = race(" ".join(f"{part}." for part in before), open_end, tuple(choices))
            return [k == right for k in range(len(choices))]
        case "reason":
            about = tokens(context)[-2]
            return [subject_of_reason(context, word) == about for word in last]
    raise ValueError(f"no rules for {skill!r}")
