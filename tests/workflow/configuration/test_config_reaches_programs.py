"""Every key of a config reaches a program, and no key is forgotten.

Each key is given a value that occurs nowhere else; one dry run that prints its commands must then
show every one of them, in a program's settings, a path, a limit or the exported runtime.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import yaml

from gpt1.cell import Arch
from tasks import prepare, task
from tasks.common.settings import Settings
from tasks.examples import facts_of, read
from tests.support.programs import call
from tests.workflow.configs import ROOT, changed, complete, one_study, raw_data, small
from tests.workflow.running import snakemake, write
from workflow.configuration import show
from workflow.configuration.model import Config
from workflow.configuration.read import as_yaml, merge, parse
from workflow.configuration.sections import Finetune, TaskEntry, section_of
from workflow.configuration.studies import flat
from workflow.grid import Grid
from workflow.plan import STAGES, Plan

NAMED = {
    "tasks",
    "labels",
    "files",
    "discourse",
    "normalise",
    "rows",
    "min_rows",
    "carve",
}  # sections whose keys are names


def sha(text: str) -> str:
    """A commit, 40 hexadecimal digits."""
    return hashlib.sha1(text.encode()).hexdigest()


def leaves(section: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every value of a config by its path; an empty section is a value."""
    if not isinstance(section, dict) or not section:
        return {path: section}
    return {k: v for name, part in section.items() for k, v in leaves(part, (*path, name)).items()}


def keys_of_config(section: type[Settings], path=()) -> Iterator[tuple[str, ...]]:
    """The path of every key below a section of the config; `*` for a task or split."""
    for name, field in section.model_fields.items():
        inner = section_of(field.annotation)
        own = (*path, name, *["*"] * show.has_names(field.annotation))
        yield from keys_of_config(inner, own) if inner else [own]


def starred(path: tuple[str, ...]) -> tuple[str, ...]:
    """A path with a task's name replaced by `*`."""
    return tuple(
        "*" if before in NAMED else name
        for before, name in zip(("", *path[:-1]), path, strict=True)
    )


def marked(world: bool, pretrained: bool = False) -> dict[str, Any]:
    """A valid config in which every number is another one, with all optional keys."""
    config = complete().model_dump(mode="json")
    experiment = config["experiment"]
    del experiment["pretrained"], experiment["studies"]  # whose keys test_studies follows
    config["results"] = "made"
    experiment["tasks"] = {
        "snli": {
            **{"folder": "MySNLI", "limit_train": 0, "limit_report": 0, "train_from": "dev"},
            **{"report_on": ["test"], "epochs": 0, "batch": 0, "lm_coef": 0.0},
            "min_rows": {"test": 0},
            "lr": {"transformer": 0.0, "lstm": 0.0},
        },
        "rte": {"folder": "MyRTE", "carve": {"train": 0.0, "dev": 0.0}},
        "qqp": {"source": "hub", "revision": sha("1")},
    }
    experiment["zero_shot"]["tasks"] = {
        "dprd": {"folder": "MyDPRD", "min_rows": {"test": 0}},
        "race": {"source": "hub", "revision": sha("2")},
    }
    best = {"random": 0.0, "best": 0.0}
    experiment["zero_shot"] |= {"limit": 0, "normalise": {"dprd": best, "race": dict(best)}}
    experiment["model"] |= {"embd_dropout": "sum", "lm_softmax": "tokens_only"}
    experiment["optimizer"]["vector_l2"] = True
    if not pretrained:  # where no other program shows what they stand in place of
        experiment["finetune"] |= {"l2": 0.0, "eps": 0.0, "init_std": 0.0}
    experiment["submission"] = True
    experiment["keep"] = ["full/rte"]
    config["runtime"] |= {"micro_batch": 0, "precision": "bfloat16", "device": "cuda"}
    config["runtime"] |= {"compile": True, "gpu_model": "my_gpu"}
    for limits in ("mem_mb", "minutes"):
        config["runtime"][limits]["max"] = 0
    if world:
        experiment["world"] |= {"rows": {"rte": 0}, "discourse": {"reasons": 0.0}}
        del experiment["tasks"]["snli"]["min_rows"]
        del experiment["zero_shot"]["tasks"]["dprd"]["min_rows"]
        corpus = {"source": "wikitext103", "revision": sha("3"), "heldout": "official"}
        corpus |= {"min_rows": {"train": 1_234_567}}
        experiment["corpus"] = corpus
    else:
        experiment["world"] = None
        experiment["tokenizer"] = {"folder": "MyBPE"}
        experiment["corpus"] = {"folder": "MyBooks", "heldout": ["mybook.txt"]}
        config["data"] = "mydata"
        mine = {"kind": "pair", "files": {"train": "mine.csv"}, "title": "My pairs", "repo": "me/x"}
        mine |= {"columns": {"text": "mytext", "second": "mysecond", "label": "mylabel"}}
        mine |= {"labels": {"0": "nope", "1": "yep"}, "prompt": "{mytext} so {mysecond}"}
        mine |= {
            "metric": "f1",
            "choices": ["Nope.", "Yep."],
            "source": "hub",
            "revision": sha("4"),
        }
        my_choices = {"kind": "multiple_choice", "files": {"dev": "c.csv", "train": "c.csv"}}
        my_choices |= {"columns": {"choices": ["mya", "myb"]}}
        experiment["tasks"] |= {"mine": mine, "mychoices": my_choices}
        experiment["only"] = [*experiment["tasks"], *experiment["zero_shot"]["tasks"]]
        experiment["cloze"] = "mycloze.jsonl"
    if pretrained:
        del experiment["corpus"], experiment["pretrain"]
        experiment["pretrained"] = {"path": "MyWeights", "updates": 0}
    numbers = itertools.count(998)
    for path, value in leaves(config).items():
        section = config
        for name in path[:-1]:
            section = section[name]
        if isinstance(value, float):
            section[path[-1]] = float(f"0.{next(numbers)}7")
        elif isinstance(value, int) and not isinstance(value, bool):
            section[path[-1]] = next(numbers)
    experiment["seeds"] = {"pretrain": [5001, 5002], "finetune": [5003, 5004]}
    experiment["model"]["transformer"] |= {"n_embd": 4004, "n_head": 2002}
    experiment["n_transfer"] = "all"
    controls = {"words": {"pretrain.shuffled": "words"}}
    controls |= {"permuted": {"finetune.embeddings": "permuted"}}
    experiment["studies"] = {"ablation": {"lines": {} if pretrained else controls}}
    experiment["studies"]["layer_transfer"] = {"values": ["none", 3, 4]}
    if not pretrained:
        experiment["pretrain"] |= {"updates": 6000, "warmup": 5999, "checkpoints": 2}
    if pretrained:
        experiment["seeds"]["pretrain"] = [0]
    if world:
        experiment["world"]["books"] = 7000
    updates = experiment["pretrained"]["updates"] if pretrained else 60
    experiment["finetune"]["checkpoint"] = updates
    config["runtime"] |= {"pretrain_threads": 8001, "finetune_threads": 8002}
    config["runtime"] |= {"shards": 2}
    return config


def shown(path: tuple[str, ...], value: Any) -> str:
    """How a value must appear in what the dry run prints."""
    special = {
        ("data",): "mydata/MySNLI",
        ("results",): "--out made/world",
        ("experiment", "corpus", "source"): "--folder made/raw/wikitext103/",
        ("experiment", "pretrained", "path"): "--from mydata/MyWeights",
        ("experiment", "pretrained", "updates"): f"--updates {value} ",
        ("experiment", "pretrain", "updates"): "update-6000.safetensors",
        ("experiment", "pretrain", "checkpoints"): '"checkpoints": [0, 60, 6000]',
        ("experiment", "seeds", "pretrain"): "transformer/seed-5002/update-6000.safetensors",
        ("experiment", "seeds", "finetune"): "--seeds 5003 5004",
        ("experiment", "arch"): "finetune_ablation_transformer",
        ("experiment", "n_transfer"): '"n_transfer": 3',  # of a line
        ("experiment", "finetune", "embeddings"): "gpt1 permute ",  # of a line, too
        ("experiment", "all"): "finetune_layer_transfer_transformer",
        ("experiment", "cloze"): "--items mydata/mycloze.jsonl",
        ("experiment", "submission"): '"unlabelled": true',
        ("experiment", "only"): "made/examples/mine",
        ("experiment", "keep"): "--weights made/kept/full/rte",
        ("runtime", "shards"): "finetune_layer_transfer_transformer_2",
    }
    if path in special:
        return special[path]
    if path[-1] in ("folder", "revision") or isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return json.dumps(value)


def said(tmp_path: Path, config: dict[str, Any]) -> str:
    """All that a dry run of `config` would hand to programs, and their exported runtime."""
    path = write(tmp_path / "marked.yaml", config)
    options = ("--directory", str(tmp_path), "--configfile", path, "--printshellcmds")
    commands = snakemake(ROOT, "--dry-run", *options, "--", "all")
    found = parse(config)
    for stage in ("pretrain", "finetune"):
        limits = [getattr(found.runtime.mem_mb, stage), getattr(found.runtime.minutes, stage)]
        limits.append(found.runtime.gpu_model)
        commands += found.runtime_of(stage).to_json() + json.dumps(limits)
    commands += Plan(found).grid().to_json()  # which is handed over in a file
    limits = (found.runtime.mem_mb, found.runtime.minutes)
    commands += json.dumps([found.runtime.pretrain_processes])  # which torchrun is given
    commands += json.dumps([found.runtime.minutes.data, *(limit.max for limit in limits)])
    return commands


def test_every_key_reaches_a_program(tmp_path):
    seen = set()
    for world, pretrained in ((True, False), (False, False), (False, True)):
        config = marked(world, pretrained)
        raw_data(tmp_path / "mydata", config)
        text = said(tmp_path, config)
        keys = {path: value for path, value in leaves(config).items() if value is not None}
        keys = {path: value for path, value in keys.items() if "studies" not in path}
        keys.pop(("data",), None) if world else keys.pop(("results",))  # the other case shows it
        if pretrained:  # the other cases show the keys of the LSTM
            keys = {path: value for path, value in keys.items() if "lstm" not in path}
            elsewhere = {"arch", "shuffled", "pretrain", "embeddings"}
            keys = {path: value for path, value in keys.items() if path[-1] not in elsewhere}
        unseen = {".".join(p): v for p, v in keys.items() if shown(p, v) not in text}
        assert not unseen
        if not pretrained:  # of lines alone
            assert " tokens --shuffled words " in text and "gpt1 permute " in text
        seen |= {starred(path) for path in keys}
    of_lines = {("experiment", "pretrain", "shuffled")}
    every = {key for key in keys_of_config(Config) if key[:2] != ("experiment", "studies")}
    assert every - of_lines == seen


def test_the_order_of_labels_reaches_programs(tmp_path):
    rows = [f"text {n},{['neg', 'pos'][n % 2]}" for n in range(30)]
    (tmp_path / "rows.csv").write_text("\n".join(["text,label", *rows]))
    mine = {"kind": "classification", "files": str(tmp_path / "rows.csv"), "metric": "f1"}
    mine |= {"labels": {"pos": "good", "neg": "bad"}, "prompt": "{text} It was"}
    given = merge(small(), {"experiment": {"tasks": {"mine": mine}, "only": ["mine"]}})
    config = parse(yaml.safe_load(as_yaml(parse(given))))  # as a run keeps it
    out = ["--out", tmp_path / "mine", "--facts", tmp_path / "mine.json"]
    settings = config.prepare("mine").to_json()
    done = call(prepare.main, "mine", "--folder", tmp_path, "--settings", settings, *out)
    assert done.returncode == 0, done.stderr
    prepared = task("mine", facts_of("mine", tmp_path / "mine").settings.own)
    assert prepared.labels == config.zero_shot("lstm").prompts["mine"].choices == ("good", "bad")
    for row in read(tmp_path / "mine", "train"):
        assert row.label == (int(row.guid.rpartition("/")[2]) + 1) % 2
    assert Grid.parse(Plan(config).grid().to_json()).task("mine").labels == prepared.labels


FINETUNE = "experiment.finetune"
PLACES = {
    "lr.transformer": "lr",
    "lr.lstm": "lr",
    "l2": "optimizer.l2",
    "eps": "optimizer.eps",
    "init_std": "model.init_std",
}
NOT_OF_CELLS = {"checkpoint", "select_fraction", "select_seed"}


def limits(section: type[Settings]) -> dict[str, list[float]]:
    """The smallest and the largest value of each number of a section, by its dotted key."""
    found, names = {}, [(name, field.annotation) for name, field in section.model_fields.items()]
    whole = section.model_json_schema()
    for name, kind in names:
        if inner := section_of(kind):
            found |= {f"{name}.{key}": ends for key, ends in limits(inner).items()}
            continue
        of = whole["properties"][name]
        of = next(
            (kind for kind in of.get("anyOf", [of]) if kind.get("type") in ("integer", "number")),
            {},
        )
        if "type" in of and (least := of.get("minimum", of.get("exclusiveMinimum"))) is not None:
            tiny = 1e-300 if "exclusiveMinimum" in of else 0
            most = of.get("maximum", 0.999999)  # below 1, for shares
            found[name] = [least + tiny, most]
    return found


OF_CELLS = {key: ends for key, ends in limits(Finetune).items() if key not in NOT_OF_CELLS}
OF_CELLS["method.read_layer"][1] = 11  # of 12
OWN = {key: ends for key, ends in limits(TaskEntry).items() if key in OF_CELLS}


def trained(config: Config, task: str, key: str) -> float:
    return flat(config.finetune(task).model_dump())[PLACES.get(key, key)]


def test_the_smallest_and_the_largest_value_of_each_key_reach_the_cells_of_a_run_and_of_a_line():
    assert OF_CELLS["lm_coef"] == [0, 1000] and OF_CELLS["l2"][0] == OF_CELLS["dropout.clf"][0] == 0
    for key, ends in OF_CELLS.items():
        base = changed(small(), "experiment.arch", "lstm" if key == "lr.lstm" else "transformer")
        for value, other in (ends, ends[::-1]):
            given = changed(base, f"{FINETUNE}.{key}", value)
            assert trained(parse(given), "rte", key) == value, key
            for own in OWN.get(key, ()):
                given = changed(given, f"experiment.tasks.rte.{key}", own)
                assert trained(parse(given), "rte", key) == own, key
                assert trained(parse(given), "cola", key) == value, key
            plan = one_study(given, lines={"a": {f"finetune.{key}": other}})
            (point,) = plan.plan("mine").points
            assert trained(plan.config(plan.variant(point.of.name)), "rte", key) == other, key


VALUES = {  # of keys whose values are words or sections
    **{
        "world.discourse": {"remarks": 0.5},
        "world.exclude": ["remarks"],
        "world.rows": {"rte": 99},
    },
    **{"pretrain.shuffled": "words", "tasks.rte.limit_train": 99, "tasks.rte.limit_report": 99},
    **{"finetune.checkpoint": 1, "n_transfer": 3, "finetune.embeddings": "permuted"},
}
NOT_OF_LINES = ("studies", "keep", "all", "only", "submission", "margins")


def given(config: Config) -> dict[str, list[str]]:
    """What the rules of each stage are given."""
    books = [config.corpus().to_json()]
    world = [config.world().to_json()]
    return {
        "world": world,
        "tasks": [config.prepare(task).to_json() for task in config.examples()],
        "tokenizer": [*books, config.experiment.tokenizer.to_json()],
        "books": [*books, *world],
        "tokens": [str(config.experiment.pretrain.shuffled)],
        "model": [config.pretrain(arch, 0).to_json() for arch in get_args(Arch)],
    }


def test_each_key_of_a_line_that_changes_what_a_rule_is_given_changes_the_folder_of_its_files():
    base, run = small(), parse(small())
    mine, values = given(run), {**flat(run.model_dump(mode="json")["experiment"]), **VALUES}
    changed_stages = {}
    for key, value in values.items():
        if key in VALUES:
            other = value
        elif isinstance(value, int | float) and not key.startswith(NOT_OF_LINES):
            of_numbers = 2 * value or 1 if isinstance(value, int) else value / 2 or 0.3
            other = not value if isinstance(value, bool) else of_numbers
        else:
            continue
        plan = one_study(base, lines={"a": {}, "b": {key: other}})
        variant = plan.variant(plan.plan("mine").points[1].of.name)
        its = given(plan.config(variant))
        changed_stages[key] = {stage for stage in mine if mine[stage] != its[stage]}
        own = {stage for stage in STAGES if plan.at(variant, stage)}
        assert variant and changed_stages[key] <= own, key
    assert len([key for key, stages in changed_stages.items() if stages]) > 40
    trains = {key for key, stages in changed_stages.items() if not stages}
    assert all(key.startswith(("finetune.", "n_transfer")) for key in trains)
