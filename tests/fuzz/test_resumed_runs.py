"""Whatever stands in what a run goes on from (states, kept weights) is used,
set aside or refused in one line; digests, which would refuse any change at once, are left out."""

import pytest
import torch
from safetensors.torch import save_file

from gpt1.predict import Predictor, Row, read_rows
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import read_tensors
from tasks.common.files import sha256_file
from tests.fuzz.mutations import fuzz
from tests.fuzz.test_saved_files import open_checksums
from tests.gpt1 import kept_cells, toy


@pytest.fixture
def resume(tmp_path):
    """A run of 8 updates, its states without digests, and what makes a run of it again."""
    facts, settings = toy.corpus(tmp_path / "corpus"), toy.pretrain_settings("lstm")

    def start():
        return Pretraining("lstm", facts, settings, Runtime(), tmp_path / "work")

    run = start()
    run.train()
    for path in (run.states.last, run.states.older):
        save_file(read_tensors(path), path)
    return start


def test_states_of_a_run(resume):
    states = resume().states

    def read():
        resume()
        for path in states.last.parent.glob("*.damaged"):
            path.unlink()

    fuzz(states.last.parent, read, lambda path: path.name.endswith("state.safetensors"))


def changed_log(log):
    return torch.cat([log, log * float("nan")])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("log", None),
        ("flat", lambda flat: flat.double()),
        ("log", changed_log),
        ("seconds", lambda seconds: seconds * float("inf")),
    ],
)
def test_a_state_that_is_whole_but_of_no_such_run_is_set_aside(resume, capsys, name, change):
    last = resume().states.last
    state = read_tensors(last)
    value = state.pop(name)
    save_file(state | ({name: change(value)} if change else {}), last)
    capsys.readouterr()
    assert resume().optimizer.updates == 3  # where the state before it stands
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"warning: {last}: its {name!r} is ")
    assert said[0].endswith("; trying the state before it") and said[1:] == [
        "resuming from update 3"
    ]


def test_kept_weights(tmp_path):
    kept_cells.write_task(tmp_path, "rte")
    _, folder = kept_cells.kept_cell(tmp_path, "rte")
    open_checksums(folder)
    weights = folder / f"seed-{kept_cells.SEEDS[0]}.safetensors"
    facts = weights.with_suffix(".json")
    stored = sha256_file(weights)

    def recorded():
        text = facts.read_text(errors="surrogateescape")
        if weights.is_file():
            text = text.replace(stored, sha256_file(weights))
        facts.write_text(text, errors="surrogateescape")

    def read():
        Predictor(folder, kept_cells.SEEDS[0]).answer([Row(text="a b", second="c")], "x")

    fuzz(folder, read, lambda path: str(kept_cells.SEEDS[1]) not in path.name, recorded)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.tsv", "text\tsecond\tchoice1\tchoice2\na\tb\tc\td\ne\tf\tg\th\n"),
        ("rows.jsonl", '{"text": "a", "second": "b", "choices": ["c", "d"]}\n' * 2),
    ],
)
def test_rows_to_answer(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    fuzz(tmp_path, lambda: read_rows(tmp_path / name))
