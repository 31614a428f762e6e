"""The mutants of a source: small changes, each made by an operator of cosmic-ray.

Left out are changes that cannot show (of annotations and of what is imported for them alone, of
the line that starts a program, of `strict` in `zip`, of `flush` in `print`) and those of looks
alone (the width of a line).
"""

import ast
import random
from dataclasses import dataclass
from typing import Any

IDLE = (  # keywords
    *("strict", "flush", "frozen"),  # an assertion, how soon a line is seen, a guard of programmers
    # of Matplotlib what no reader can misread:
    *("capsize", "elinewidth", "figsize", "fontsize", "labelrotation", "length"),
    *("linewidth", "markeredgewidth", "markersize", "ncols", "pad", "relpos", "rotation"),
    *("shrinkA", "shrinkB", "zorder"),
)
WHERE = ("__name__ == '__main__'", "TYPE_CHECKING")  # the start of a program, imports to annotate


@dataclass(frozen=True)
class Mutant:
    """A change of the source at `path`: the operator, and which of its places there."""

    path: str
    line: int
    column: int
    operator: str
    occurrence: int


def operators() -> dict[str, Any]:
    """The operators that need no arguments, by name."""
    from cosmic_ray import plugins

    found = {name: plugins.get_operator(name) for name in plugins.operator_names()}
    return {name: operator() for name, operator in found.items() if not operator.arguments()}


def find(path: str, source: str) -> list[Mutant]:
    """Every mutant of a source, by line and column."""
    from cosmic_ray.ast import ast_nodes, get_ast

    nodes, idle, found = list(ast_nodes(get_ast(source))), idle_places(source), []
    for name, operator in operators().items():
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (start, *_) in enumerate(places):
            if not any(first <= start < last for first, last in idle):
                found.append(Mutant(path, *start, name, occurrence))
    return sorted(found, key=lambda one: (one.line, one.column, one.operator, one.occurrence))


def is_python(source: str) -> bool:
    """Whether a mutant can be read at all: `{1: 2, -row}` cannot."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def mutate(source: str, mutant: Mutant) -> str | None:
    """The source with the change made; None for one that cosmic-ray cannot make.

    That is the name of an exception with a dot. Raises ValueError if there is no such place.
    """
    from cosmic_ray.mutating import mutate_code

    try:
        changed = mutate_code(source, operators()[mutant.operator], mutant.occurrence)
    except AttributeError:
        return None
    if changed is None:
        raise ValueError(f"{mutant.path} has no place {mutant.occurrence} of {mutant.operator}")
    return changed


def idle_places(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where a change cannot show, from (line, column) up to (line, column)."""
    found: list[Any] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.keyword) and node.arg in IDLE:
            found.append(node.value)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [v for k, v in pairs if isinstance(k, ast.Constant) and k.value in IDLE]
        elif isinstance(node, ast.If) and ast.unparse(node.test) in WHERE:
            found.append(node)
    return [
        ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        for node in found
        if node is not None
    ]


def sample(mutants: list[Mutant], n: int, seed: int) -> list[Mutant]:
    """A mutant at each of `n` places of a source, drawn by the seed."""
    places: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in mutants:
        places.setdefault((mutant.line, mutant.column), []).append(mutant)
    rng = random.Random(f"{seed} {mutants[0].path}" if mutants else "")
    chosen = rng.sample(sorted(places), min(n, len(places)))
    return [rng.choice(places[place]) for place in sorted(chosen)]
