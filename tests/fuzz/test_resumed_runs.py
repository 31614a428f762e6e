"""Whatever stands in what a run goes on from (states, kept weights) is used,
set aside or refused in one line; checksums of JSON, which would refuse any change, are left out."""

import pytest

from gpt1.predict import Predictor, Row, read_rows
from gpt1.pretrain import Pretraining
from gpt1.training.runtime import Runtime
from tasks.common.files import MANIFEST, described, write_json
from tests.fuzz.mutations import fuzz, without_checksums
from tests.gpt1 import cell_jobs, toy


def test_states_of_a_run(tmp_path):
    facts, settings = toy.corpus(tmp_path / "corpus"), toy.pretrain_settings("lstm")

    def resume():
        run = Pretraining("lstm", facts, settings, Runtime(), tmp_path / "work")
        for path in run.work.folder.glob("*.damaged"):
            path.unlink()
        return run

    run = resume()
    run.train()
    fuzz(run.work.folder, resume, "*state.safetensors")


def test_kept_weights(tmp_path):
    cell_jobs.write_task(tmp_path, "rte")
    _, folder = cell_jobs.kept_cell(tmp_path, "rte")
    without_checksums(folder)
    files = [path.name for path in folder.iterdir() if path.name != MANIFEST]
    listed = {"files": described(folder, files)}
    write_json(folder / MANIFEST, listed, checksum=False)

    def read():
        Predictor(folder).answer([Row(text="a b", second="c")], "x")

    fuzz(folder, read)


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
