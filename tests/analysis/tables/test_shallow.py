"""The shallow baselines, as the tables show them."""

import pytest

from tasks.common.files import write_json
from tests.analysis.conftest import build
from workflow.analysis.tables import ablation


def accuracy(**values: float) -> dict:
    return {name: {"dev": {"accuracy": value}} for name, value in values.items()}


@pytest.mark.parametrize("constant", [50.0, 59.5])
@pytest.mark.parametrize("classes", [{}, accuracy(word_classes=58.4)])
def test_they_stand_below_the_bag_of_words_with_the_best_of_all(run_of, classes, constant):
    results, grid = run_of("rte")
    scores = accuracy(majority=constant, bag_of_words=55.0, word_overlap=51.2, one_text=52.3)
    for name in ("rte", "qnli"):  # which a larger run left there
        write_json(results / "baselines" / f"{name}.json", {"task": name, **scores, **classes})
    text = build(ablation, results, grid)[1]
    cells = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    lines = {line[1]: line for line in cells if len(line) > 1}
    assert "51.2" in lines["word overlap"] and "52.3" in lines["one text alone"]
    assert ("word classes" in lines) == bool(classes) and "affix bigrams" not in lines
    assert text.count("52.3") == 2  # of RTE, and of the mean of the run's tasks, which it is
    best = "59.5" if constant > 58.4 else "58.4" if classes else "55.0"
    assert best in lines["best of all baselines"]
