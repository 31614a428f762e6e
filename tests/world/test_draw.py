"""What a world draws by its seed, the degree of each row, and what training rows lack."""

from collections import Counter
from pathlib import Path

import pytest

from tasks import task
from tasks.world import read_degrees
from tasks.world.draw import WORDS, Draw, half, words_of
from tasks.world.feelings import FEELINGS, LINKS
from tasks.world.settings import WorldSettings
from tests.world.oracle import degree as degree_of


@pytest.fixture(scope="module")
def degrees(world: Path) -> dict[str, str]:
    """The degree of each row by its place, as `degrees.csv` says."""
    rows = read_degrees(world / "degrees.csv")
    return {row: degree for degree, places in rows.items() for row in places}


def test_each_degree_has_its_configured_share_of_training_and_of_other_rows(
    degrees: dict[str, str], settings: WorldSettings
):
    splits: dict[tuple[str, str], Counter[str]] = {}
    for row, degree in degrees.items():
        name, split, _ = row.split("/")
        splits.setdefault((name, split), Counter())[degree] += 1
    for (name, split), counts in splits.items():
        is_training = split == task(name).train
        shares = (settings.degrees if is_training else settings.reported).shares()
        if name == "dprd":
            assert set(counts) == {"lexical"}
            continue
        for degree, share in shares.items():
            wanted = share / sum(shares.values())
            # Each label's rows are divided by themselves, and rounded.
            error = 0.01 + 4 / counts.total()
            assert counts[degree] / counts.total() == pytest.approx(wanted, abs=error)


def test_each_row_that_is_read_has_the_degree_of_its_number_in_the_world(
    degrees: dict[str, str], splits, name: str
):
    for rows in splits(name).values():
        for example in rows:
            assert degrees[task(name).place(example.guid)] == degree_of(name, example), example.guid


def test_another_seed_has_other_words_and_forms_of_the_same_classes():
    one, two = words_of(1), words_of(2)
    for sort, groups in WORDS.items():
        for pool, mine, other in zip(groups, one[sort], two[sort], strict=True):
            assert {*mine, *other} <= {*pool} and len(mine) == (len(pool) + 1) // 2
    mine, other = ({w for groups in ws.values() for g in groups for w in g} for ws in (one, two))
    assert 0.3 < len(mine & other) / len(mine) < 0.7
    assert words_of(1) == one and len({half(seed, LINKS) for seed in range(20)}) > 3


@pytest.mark.parametrize("world", range(4))
def test_training_rows_lack_the_combination_of_reversals_that_reported_rows_have(world: int):
    def drawn(**combined: float) -> Counter:
        draw = Draw(world, "x/train", **combined)
        return Counter(draw.reversals("compositional", *FEELINGS) for _ in range(2000))

    books, training, reported = drawn(), drawn(combined=0.0), drawn(combined=0.4)
    (held_out,) = set(books) - set(training)
    assert held_out[1:] == (True, True) and len(books) == 6
    # Each part of it is known by itself, and both parts of a row about the other feeling.
    feeling = held_out[0]
    (other,) = {*FEELINGS} - {feeling}
    assert {(feeling, True, False), (feeling, False, True), (other, True, True)} <= set(training)
    assert reported[held_out] / 2000 == pytest.approx(0.2, abs=0.04)
    # The second part is reversed as often whatever the row is about, which it would tell else.
    for of in FEELINGS:
        ways = Counter()
        for way, n in training.items():
            ways[way[2]] += n * (way[0] == of)
        assert ways[True] / ways.total() == pytest.approx(0.5, abs=0.06)


def test_each_task_holds_out_a_combination_of_its_own():
    def held_out(world: int, part: str) -> str:
        draw = Draw(world, part, combined=0.0)
        ways = {draw.reversals("compositional", *FEELINGS) for _ in range(100)}
        (feeling,) = {of for of in FEELINGS if (of, True, True) not in ways}
        return feeling

    parts = ("snli/train", "mnli/train", "race/train")
    assert len({tuple(held_out(world, part) for part in parts) for world in range(20)}) > 4
    assert all(held_out(w, "snli/train") == held_out(w, "snli/dev") for w in range(20))
