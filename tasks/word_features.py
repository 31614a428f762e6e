"""The shallow baselines' features of an example: lists of words, which a linear model counts.

Each function yields one list per example, or for multiple choice one per choice. `of` maps a word
to what stands for it: itself or its class.
"""

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, pairwise, product

from tasks.spec import Example
from tasks.task import Task
from tasks.word_classes import words

Features = Callable[[Task, Example], Iterator[list[str]]]
NEAR = 3  # maximum distance in words
LONGEST = 3  # maximum number of words in a run


def texts(task: Task, example: Example) -> list[list[list[str]]]:
    """The words of one or both texts; for multiple choice, of document, question and choice."""
    first, second = words(example.first), words(example.second)
    if task.family == "multiple_choice":
        return [[first, second, words(choice)] for choice in example.choices]
    return [[first] if task.family == "classification" else [first, second]]


def bag_of_words(
    task: Task, example: Example, of: Callable[[str], str] = str
) -> Iterator[list[str]]:
    """Words in one text only, words in both, and the overlap as a share of the second's words."""
    # A similarity pair has no order: a word in only one text is the same feature for either. The
    # context, which all choices share, cannot separate them: it counts only through the overlap.
    names = {"similarity": ("only", "only"), "multiple_choice": ("", "choice")}
    for *before, last in texts(task, example):
        if not before:
            yield [of(word) for word in last]
            continue
        first = [word for text in before for word in text]
        shared = set(first) & set(last)
        found = [f"both {of(word)}" for word in sorted(shared)]
        for part, name in zip(
            (first, last), names.get(task.family, ("first", "second")), strict=True
        ):
            if name:
                found += [f"{name} {of(word)}" for word in part if word not in shared]
        # The overlap, as the share of the second text's words, in tenths.
        yield [*found, f"overlap {10 * len(shared) // max(1, len(set(last)))}"]


def word_pairs(task: Task, example: Example, of: Callable[[str], str] = str) -> Iterator[list[str]]:
    """The bag of words, and each pair of a word in the last text and a word in one before it."""
    bags = bag_of_words(task, example, of)
    for bag, (*before, last) in zip(bags, texts(task, example), strict=True):
        second = {of(word) for word in last}
        for number, text in enumerate(before):
            for pair in product({of(word) for word in text}, second):
                one, other = sorted(pair) if task.family == "similarity" else pair
                bag.append(f"{number} {one} {other}")
        yield bag


def word_orders(
    task: Task, example: Example, of: Callable[[str], str] = str
) -> Iterator[list[str]]:
    """Each ordered pair of words near each other, and each pair of such pairs.

    Pairs of pairs are across texts: a pair in the last one with a pair in any text before it. In a
    single text they are within it.
    """
    for *before, last in texts(task, example):
        own = _in_order(last, of)
        found = [f"last {pair}" for pair in own]
        if not before:
            found += [" ".join(pairs) for pairs in combinations_with_replacement(own, 2)]
        for number, text in enumerate(before):
            others = _in_order(text, of)
            found += [f"{number} {pair}" for pair in others]
            for pairs in product(others, own):
                one, two = sorted(pairs) if task.family == "similarity" else pairs
                found.append(f"{number} {one} {two}")
        yield found


def _in_order(text: list[str], of: Callable[[str], str]) -> list[str]:
    """The distinct pairs of words up to `NEAR` apart, as "one>other"; text ends count as words."""
    names = ["^", *map(of, text), "$"]
    return sorted(
        {f"{name}>{other}" for i, name in enumerate(names) for other in names[i + 1 : i + 1 + NEAR]}
    )


def word_runs(task: Task, example: Example, of: Callable[[str], str] = str) -> Iterator[list[str]]:
    """Every run of up to three words of each text, where the text's ends count as words."""
    for parts in texts(task, example):
        runs = []
        for number, text in enumerate(parts):
            names = ["^", *map(of, text), "$"]
            runs += [
                f"{number} {' '.join(names[i : i + n])}"
                for n in range(1, LONGEST + 1)
                for i in range(len(names) - n + 1)
            ]
        yield runs


def word_overlap(task: Task, example: Example) -> Iterator[list[str]]:
    """The numbers of shared and unshared words, and the shared fraction of each text's words."""
    for *before, last in texts(task, example):
        first, second = {word for text in before for word in text}, set(last)
        shared = len(first & second)
        found = ["both"] * shared + ["second"] * (len(second) - shared)
        if task.family != "multiple_choice":
            found += ["first"] * (len(first) - shared)
        shares = (10 * shared // max(1, len(text)) for text in (first, second))
        yield [*found, *(f"{name} {share}" for name, share in zip("ab", shares, strict=True))]


def one_text(task: Task, example: Example, place: int) -> Iterator[list[str]]:
    """The words of the first text (place 0) or of the last one (-1), without the other."""
    for found in texts(task, example):
        yield found[place]


def affix_bigrams(task: Task, example: Example) -> Iterator[list[str]]:
    """Each pair of adjacent words, by the words themselves and by their first and last letters."""
    for (text,) in texts(task, example):
        found = []
        for pair in pairwise(["^", *text, "$"]):
            forms = ([word, f"{word[0]}-", f"-{word[-1]}", f"-{word[-2:]}"] for word in pair)
            found += [" ".join(bigram) for bigram in product(*forms)]
        yield found
