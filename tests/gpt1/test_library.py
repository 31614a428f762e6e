"""The suite as a library: the lines of docs/own-data.md as they stand there, and the wheel."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gpt1
from gpt1.generate import TextModel
from gpt1.predict import Predictor
from tasks.common.errors import InputError
from tests.gpt1.cell_jobs import SEEDS, kept_cell, write_checkpoint, write_task
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.test_zero_shot import by_hand
from tests.support.tables import write_table
from tests.workflow.configs import complete

UPDATES = complete().experiment.pretrain.updates  # of the run that the documents speak of
CHECKPOINT = f"results/pretrain/transformer/seed-0/update-{UPDATES}.safetensors"
CELL = "results/kept/full/sst2"
CLAIMS = {"n_seeds": [3, 3], "ours": [43.7, None], "verdict": ["holds", ""]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with the results of a run, as far as the documented lines read them."""
    folder = tmp_path_factory.mktemp("run")
    write_task(folder / "own", "sst2")
    _, kept = kept_cell(folder / "own", "sst2")
    shutil.copytree(kept, folder / CELL)
    write_tokenizer(folder / "results/tokenizer")
    name = Path(CHECKPOINT).relative_to("results").with_suffix("")
    write_checkpoint(folder / "results", name, seed=0, update=UPDATES)
    write_table(pd.DataFrame(CLAIMS), folder / "results/claims.csv")
    (folder / "results/studies").mkdir()
    study = {"n_transfer": ["none", "12"], "mean": [50.0, 80.5], "by_seed": ["49.5;50.5", ""]}
    write_table(pd.DataFrame(study), folder / "results/studies/lm_coef.csv")
    return folder


@pytest.fixture(autouse=True)
def in_run(run, monkeypatch):
    monkeypatch.chdir(run)


def test_the_documented_lines_give_what_is_said_of_them(root):
    text = (root / "docs/own-data.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    found = {}
    exec(lines, found)
    scores, answers = found["scores"], found["answers"]
    assert list(scores) == ["tokens", "log_probability", "perplexity"] and len(scores) == 2
    tokenizer = found["model"].tokenizer
    (prompt,) = re.findall(r'generate\("(.*?)"', lines)
    prompt = tokenizer.decode(tokenizer.encode(prompt))
    assert found["text"].startswith(prompt) and len(found["text"]) > len(prompt)
    assert list(answers) == ["prediction", "p_negative", "p_positive"]
    shares = answers[["p_negative", "p_positive"]].to_numpy()
    assert shares.sum(1) == pytest.approx(np.ones(2))
    assert answers["prediction"].tolist() == [["negative", "positive"][i] for i in shares.argmax(1)]
    kinds = {name: kind.kind for name, kind in found["claims"].dtypes.items()}
    assert kinds["n_seeds"] == "i" and kinds["ours"] == "f"


def test_a_text_that_does_not_fit_is_scored_by_windows_each_token_once():
    model = gpt1.load(CHECKPOINT)
    assert isinstance(model, TextModel) and model.model.n_ctx == 24
    short, long = "a b c", " ".join("abcdefghij"[i % 7] for i in range(30))
    ids, newline = model.tokenizer.encode(long), model.tokenizer.newline_id
    scores = model.score([short, long, short])
    assert scores["tokens"].tolist() == [3, 30, 3]
    alone = sum(by_hand(model, [newline, *model.tokenizer.encode(short)]))
    assert scores["log_probability"][[0, 2]].tolist() == pytest.approx([alone] * 2, abs=1e-4)
    first = sum(by_hand(model, [newline, *ids[:23]]))
    rest = sum(by_hand(model, [newline, *ids[7:]])[16:])
    assert scores["log_probability"][1] == pytest.approx(first + rest, abs=1e-4)
    assert scores["perplexity"][1] == pytest.approx(np.exp(-(first + rest) / 30), rel=1e-4)


def test_one_text_or_row_needs_no_list():
    model, cell = gpt1.load(Path(CHECKPOINT)), gpt1.load(CELL)
    assert isinstance(cell, Predictor)
    assert model.score("a b").equals(model.score(["a b"]))
    assert cell.predict("a b").equals(cell.predict([{"text": "a b"}]))


def test_a_kept_cell_is_loaded_with_the_seed_that_is_asked_for():
    shares = {seed: gpt1.load(CELL, seed=seed).predict("a b") for seed in (None, *SEEDS)}
    assert shares[None].equals(shares[SEEDS[0]]) and not shares[None].equals(shares[SEEDS[1]])


def test_a_checkpoint_away_from_its_run_is_loaded_with_its_tokenizer(run, tmp_path):
    for file in (run / CHECKPOINT).parent.glob(f"update-{UPDATES}.*"):
        shutil.copy(file, tmp_path)
    alone = tmp_path / Path(CHECKPOINT).name
    with pytest.raises(InputError, match="no tokenizer beside its results; give"):
        gpt1.load(alone)
    model = gpt1.load(alone, tokenizer=run / "results/tokenizer")
    assert model.score("a b").equals(gpt1.load(CHECKPOINT).score("a b"))


def test_all_tables_are_read_with_their_numbers():
    tables = gpt1.results("results")
    assert list(tables) == ["claims", "studies/lm_coef"]
    study = tables["studies/lm_coef"]
    assert study["n_transfer"].tolist() == ["none", "12"]
    assert study["by_seed"].tolist() == [(49.5, 50.5), ()]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: gpt1.load("results/update-9.safetensors"),
            "update-9.safetensors: no trained model",
        ),
        (lambda: gpt1.load("results/studies"), "results/studies: no trained model; give"),
        (lambda: gpt1.load(CHECKPOINT).score(["a", " "]), "text 2: found ' ', which has no words"),
        (lambda: gpt1.load(CHECKPOINT).generate("a", top_p=1), "top_p: found 1"),
        (
            lambda: gpt1.load(CHECKPOINT, seed=0),
            "seed: found 0, but .* of one seed alone",
        ),
        (lambda: gpt1.load(CELL, tokenizer="t"), "tokenizer: found t, but results/kept/full/sst2"),
        (lambda: gpt1.load(CELL).predict(["a", {"txt": "b"}]), "rows: row 2: .*; give text"),
        (lambda: gpt1.load(CELL).predict([]), "rows: no rows; give one"),
        (lambda: gpt1.results(CELL), "full/sst2: no tables and no cells in it; give the"),
    ],
)
def test_a_mistake_says_what_was_wrong(call, told):
    with pytest.raises(InputError, match=told):
        call()


@pytest.mark.skipif(not find_spec("setuptools"), reason="setuptools, the build backend, is absent")
def test_the_wheel_holds_every_module_and_what_modules_read(root, tmp_path):
    source, wheel = tmp_path / "source", tmp_path / "wheel"
    packages = ("gpt1", "tasks", "workflow")
    for name in (*packages, "tests", "bench"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", wheel)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "wheel", *options, source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = wheel.iterdir()
    with zipfile.ZipFile(file) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert f"gpt1_suite-{gpt1.__version__}.dist-info/METADATA" in archive.namelist()
        archive.extractall(tmp_path / "site")
    needed = {path for name in packages for path in (source / name).rglob("*") if path.is_file()}
    inside = {path.relative_to(source).as_posix() for path in needed}
    of_clones = re.compile(r"workflow/(pipeline\.sh$|profiles/|config/config\.schema\.json$)")
    assert held == {name for name in inside if not of_clones.match(name)}
    program = "import gpt1, tasks.world.draw; print(gpt1.__file__, *gpt1.results('results'))"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    said = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
    assert said.split() == [str(tmp_path / "site/gpt1/__init__.py"), *gpt1.results("results")]


@pytest.mark.parametrize("name", ["tasks.py", "workflow.py", "workflow/__init__.py"])
def test_a_file_that_hides_a_package_is_named_with_a_way_out(root, tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("raise SystemExit('not this one')")
    call = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(root)}, "text": True}
    for words in (["-m", "gpt1", "--help"], ["-c", "import gpt1"]):
        done = subprocess.run([sys.executable, *words], capture_output=True, **call)
        assert done.returncode == 1 and f"{name} hides the package" in done.stderr
        assert words[0] == "-c" or done.stderr.startswith("error: ")
        safe = subprocess.run([sys.executable, "-P", *words], capture_output=True, **call)
        assert safe.returncode == 0, safe.stderr


def test_a_workflow_folder_of_snakemakes_layout_hides_nothing(root, tmp_path):
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").touch()
    environment = os.environ | {"PYTHONPATH": str(root)}
    subprocess.check_call([sys.executable, "-c", "import gpt1"], env=environment, cwd=tmp_path)
