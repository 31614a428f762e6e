"""Logs compared as lm-evaluation-harness writes them with `--log_samples`."""

import json

import numpy as np
import pandas as pd
import pytest

import gpt1
from tasks.common.errors import InputError
from workflow.analysis.compare import SAME
from workflow.analysis.logs import of_logs
from workflow.analysis.ranking import main

OLD, NEW = "2026-11-01T10-00-00.000001", "2026-11-02T10-00-00.000001"
N = 60


def document(i, answers="none", doc_id=None, **metrics):
    """A line of a log, with a text that holds a line end of Unicode."""
    said = {
        "doc_id": i if doc_id is None else doc_id,
        "doc": {"text": f"What\u2028is {i}?"},
        "target": "0",
        "filter": answers,
    }
    said |= {
        "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " a"}},
        "resps": [[["-1", "True"]]],
    }
    digests = {f"{of}_hash": f"{of} {i}" for of in ("doc", "prompt", "target")}
    return {**said, "filtered_resps": [["-1", "True"]], "metrics": [*metrics], **digests, **metrics}


def write_log(folder, task, documents, date=NEW):
    """A log in the folder of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(of, ensure_ascii=False) + "\n" for of in documents)
    (folder / f"samples_{task}_{date}.jsonl").write_text(text, encoding="utf-8")


def write_model(folder, skill, seed=0):
    """Two tasks."""
    rng, hard = np.random.default_rng(seed), np.random.default_rng(9).normal(size=N)
    hits = (skill + hard + rng.normal(size=N) > 0) * 1
    pairs = [[i % 2, int(i % 2 == hit)] for i, hit in enumerate(hits)]
    all_metrics = [
        document(i, acc=float(hit), f1=pair, bits=-3.5)
        for i, (hit, pair) in enumerate(zip(hits, pairs, strict=True))
    ]
    write_log(folder, "arc_easy", all_metrics)
    strict = [document(i, "strict-match", exact_match=int(hit)) for i, hit in enumerate(hits)]
    loose = [document(i, "flexible-extract", exact_match=1.0) for i in range(N)]
    write_log(folder, "gsm8k", [*strict, *loose])
    return hits


def test_two_models_are_compared_metric_by_metric(tmp_path, capsys):
    lower, higher = write_model(tmp_path / "one/a", 0.0), write_model(tmp_path / "b", 1.0)
    main([f"{tmp_path}/one", f"{tmp_path}/b", "--out", f"{tmp_path}/out.csv"])
    frame = pd.read_csv(tmp_path / "out.csv").set_index(["line", "task"])
    strict, loose = (f"exact_match, {of}" for of in ("strict-match", "flexible-extract"))
    names = [("acc", "arc_easy"), (loose, "gsm8k"), (strict, "gsm8k")]
    assert [*frame.index] == names and frame.loc[names[1], "verdict"] == SAME
    for key in (names[0], names[2]):
        expected = [100 * lower.mean(), 100 * higher.mean(), N]
        assert frame.loc[key, ["a", "b", "rows"]].tolist() == pytest.approx(expected, abs=1e-3)
    said = capsys.readouterr().out
    assert (tmp_path / "out.md").read_text().strip() == said.strip()
    assert all((tmp_path / f"out.{form}").stat().st_size for form in ("png", "svg", "pdf"))


def test_several_folders_are_the_seeds_of_a_model(tmp_path):
    folders = {of: [tmp_path / f"{of}{i}" for i in range(3)] for of in "ab"}
    for of, skill in (("a", 0.0), ("b", 2.0)):
        for seed, folder in enumerate(folders[of]):
            write_model(folder, skill, seed)
    found = gpt1.compare(*folders.values()).frame.set_index("line").loc["acc"]
    assert found["n_seeds"] == len(found["diff_by_seed"]) == 3 and found["over"] == "rows and seeds"
    with pytest.raises(InputError, match="a folder twice; give each seed's own"):
        gpt1.compare(folders["a"], [*folders["b"][:2], folders["b"][0]])


FAULTS = {
    "['doc_hash', 'target_hash']": lambda of: {"metrics": [], "filter": "none"},
    "no log (a digest or filter is missing); give": lambda of: of | {"doc_hash": None},
    "no 'bleu'; give a log": lambda of: of | {"metrics": ["bleu"]},
    "no log (a row without metrics); give": lambda of: (
        of | {"metrics": ["acc"] if of["doc_id"] else None}
    ),
    "another version of the data, 4 differ": lambda of: of | {"target_hash": "x"},
    "other rows, 2 in one alone, such as doc 0": lambda of: (
        of | {"doc_hash": f"doc {of['doc_id'] + 1}"}
    ),
    "a has acc on rte, b has em on rte": lambda of: of | {"metrics": ["em"], "em": 1},
    "no score from 0 to 1 of each document in acc of rte": lambda of: (
        of | {"acc": -2.5 if of["doc_id"] else "n/a"}
    ),
    "logs of a, b; give a run's folder, or one model's": None,
    "no results; give a run's folder": None,
}


@pytest.mark.parametrize("said", FAULTS)
def test_a_fault_of_a_log_is_one_line(said, tmp_path):
    change = FAULTS[said] or (lambda of: of)
    write_log(tmp_path / "a", "rte", [document(i, acc=1.0) for i in range(4)])
    write_log(tmp_path / "b", "rte", [change(document(i, acc=0.0)) for i in range(4)])
    given = {"lo": tmp_path, "no": tmp_path / "gone"}.get(said[:2]) if not FAULTS[said] else None
    with pytest.raises(InputError) as error:
        gpt1.compare(tmp_path / "a", given or tmp_path / "b")
    assert said in str(error.value) and "\n" not in str(error.value)


def test_logs_of_several_runs_are_told_and_two_of_one_task_are_refused(tmp_path):
    write_model(tmp_path / "a", 0.0)
    write_model(tmp_path / "b", 1.0)
    write_log(tmp_path / "b", "rte", [document(0, acc=1.0)], OLD)
    found = gpt1.compare(tmp_path / "a", tmp_path / "b")
    runs = f"The logs of {tmp_path / 'b'} are of 2 runs: arc_easy of {NEW}, gsm8k of {NEW}, rte of"
    assert runs in found.markdown and {*found.frame["task"]} == {"arc_easy", "gsm8k"}
    expected = found.frame
    write_log(tmp_path / "b", "arc_easy", [document(0, em=1.0)], OLD)  # whatever its metrics
    with pytest.raises(InputError, match="of one task by two runs; give results_DATE.json of one"):
        gpt1.compare(tmp_path / "a", tmp_path / "b")
    run = tmp_path / "b" / f"results_{NEW}.json"
    run.write_text("{}")
    pd.testing.assert_frame_equal(gpt1.compare(tmp_path / "a", run).frame, expected)


@pytest.mark.parametrize("value", [float("nan"), None, 1.5, [0, 1], "n/a"])
def test_a_metric_that_does_not_score_each_document_is_named(value, tmp_path):
    rows = [document(i, acc=1.0, acc_norm=0.0) for i in range(4)]
    write_log(tmp_path / "a", "rte", rows)
    write_log(tmp_path / "b", "rte", [*rows[:3], rows[3] | {"acc_norm": value}])
    found = gpt1.compare(tmp_path / "a", tmp_path / "b")
    assert found.frame["line"].tolist() == ["acc"]
    told = f"Left out of {tmp_path}/b: no score from 0 to 1 of each document in acc_norm of rte."
    assert told in found.markdown


def test_documents_are_paired_by_their_content_and_not_by_a_number_that_may_be_anothers(tmp_path):
    hits = [0.0, 1.0, 1.0, 0.0]
    same = [document(i % 3, acc=hit) for i, hit in enumerate(hits)]  # two with the same text
    other = [document(i % 3, doc_id=9 - i, acc=hit) for i, hit in enumerate(hits)]
    write_log(tmp_path / "a", "rte", same)
    write_log(tmp_path / "b", "rte", [other[1], other[2], other[0], other[3]])
    found = gpt1.compare(tmp_path / "a", tmp_path / "b").frame
    assert found["verdict"].tolist() == [SAME] and found["rows"].tolist() == [4]


def shared(i, score, name="gsm8k", digest=True):
    """A line in the format Every Eval Ever, by its schema 0.2.1."""
    answer = {"turn_idx": 0, "source": "output.raw", "extracted_value": "4"}
    return {
        "schema_version": "instance_level_eval_0.2.1",
        "evaluation_id": f"{name}/model/1",
        "model_id": "someone/model",
        "evaluation_name": name,
        "sample_id": str(i),
        "sample_hash": f"digest {i}" if digest else None,
        "interaction_type": "single_turn",
        "input": {"raw": f"What is {i}?", "reference": [str(i)], "choices": None},
        "output": {"raw": ["4"]},
        "answer_attribution": [answer | {"extraction_method": "regex", "is_terminal": True}],
        "evaluation": {"score": score, "is_correct": score > 0.5},
    }


def test_documents_that_share_a_digest_in_that_format_are_rows_of_their_own(tmp_path):
    lines = [shared(i, i % 2, digest=True) | {"sample_hash": "of no prompt"} for i in range(6)]
    (tmp_path / "one.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    rows = of_logs(tmp_path)[0].query("line == 'score'")
    assert rows["row"].is_unique and rows["score"].tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("digest", [True, False])
def test_logs_in_the_format_that_inspect_and_helm_are_converted_to_are_read(digest, tmp_path):
    rng = np.random.default_rng(0)
    scores = {run: (rng.random(N) < share) * 0.8 for run, share in (("a", 0.4), ("b", 0.9))}
    for run, of in scores.items():
        lines = [json.dumps(shared(i, float(score), digest=digest)) for i, score in enumerate(of)]
        lines = lines if run == "a" else lines[::-1]  # rows are paired by what they are
        (tmp_path / run).mkdir()
        (tmp_path / run / "5f0c.jsonl").write_text("\n".join(lines) + "\n")
        (tmp_path / run / "5f0c.json").write_text("{}")  # the aggregate beside it
    frame = gpt1.compare(tmp_path / "a", tmp_path / "b").frame.set_index("line")
    assert {*frame["task"]} == {"gsm8k"} and {*frame.index} == {"score", "is_correct"}
    assert frame.loc["score", "diff"] == pytest.approx(100 * (scores["b"] - scores["a"]).mean())
    right = [(scores[run] > 0.5).mean() for run in "ab"]
    assert frame.loc["is_correct", "diff"] == pytest.approx(100 * (right[1] - right[0]))
    log, text = tmp_path / "b" / "5f0c.jsonl", (tmp_path / "b" / "5f0c.jsonl").read_text()
    log.write_text(text * 3)  # epochs are no further rows
    again = gpt1.compare(tmp_path / "a", tmp_path / "b").frame.set_index("line")
    pd.testing.assert_frame_equal(again, frame)
    log.write_text(text.replace("someone/model", "another/model", 1))
    with pytest.raises(InputError, match="of several models"):
        gpt1.compare(tmp_path / "a", tmp_path / "b")
    log.write_text(text)
    log.write_text(log.read_text().replace('"evaluation": {', '"evaluations": {'))
    with pytest.raises(InputError, match="5f0c.jsonl: no 'evaluation'; give a log"):
        gpt1.compare(tmp_path / "a", tmp_path / "b")
