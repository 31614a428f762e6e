"""Every key of a config reaches a program, and no key is forgotten.

Each key is given a value that occurs nowhere else; one dry run that prints its commands must then
show every one of them, in a program's settings, a path, a limit or the exported runtime.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import yaml

from gpt1.cell import UNCHANGED, Arch
from tasks import prepare, task
from tasks.common.settings import Settings
from tasks.examples import facts_of, read
from tests.support.programs import call
from tests.workflow.configs import ROOT, changed, complete, one_study, raw_data, small
from tests.workflow.running import snakemake, with_config
from workflow.configuration import show
from workflow.configuration.model import Config
from workflow.configuration.read import as_yaml, merge, parse
from workflow.configuration.sections import Finetune, TaskEntry, section_of
from workflow.configuration.studies import flat
from workflow.grid import Grid
from workflow.plan import STAGES, Plan, nested

# Sections whose keys are names.
NAMED = [
    "tasks",
    "labels",
    "files",
    "discourse",
    "normalise",
    "rows",
    "min_rows",
    "carve",
    "shares",
]
# All optional keys: of every case, and of some. Each 0 and 0.0 stands for a number of its own.
MARKED = """
results: made
experiment:
  tasks:
    snli: {folder: MySNLI, limit_train: 0, limit_report: 0, train_from: dev, report_on: [test],
           epochs: 0, batch: 0, lm_coef: 0.0, lr: {transformer: 0.0, lstm: 0.0}}
    rte: {folder: MyRTE, carve: {train: 0.0, dev: 0.0}}
    qqp: {source: hub, revision: 1123456789abcdef0123456789abcdef01234567}
  zero_shot:
    limit: 0
    tasks:
      dprd: {folder: MyDPRD}
      race: {source: hub, revision: 2123456789abcdef0123456789abcdef01234567}
    normalise: {dprd: {random: 0.0, best: 0.0}, race: {random: 0.0, best: 0.0}}
  model: {embd_dropout: sum, lm_softmax: tokens_only}
  optimizer: {vector_l2: true}
  submission: true
  keep: [full/rte]
runtime: {micro_batch: 0, precision: bfloat16, device: cuda, compile: true, gpu_model: my_gpu,
          mem_mb: {max: 0}, minutes: {max: 0}}
"""
WORLD = """
experiment:
  world: {rows: {rte: 0}, discourse: {reasons: 0.0}}
  corpus: {source: wikitext103, revision: 3123456789abcdef0123456789abcdef01234567, folder: null,
           heldout: official, min_rows: {train: 0}}
"""
DATA = """
data: mydata
experiment:
  world: null
  tokenizer: {merges: null, folder: MyBPE}
  corpus: {folder: MyBooks, heldout: [mybook.txt], shares: {mynovels: 0.0}}
  tasks:
    snli: {min_rows: {test: 0}}
    mine: {kind: pair, files: {train: mine.csv}, title: My pairs, repo: me/x,
           columns: {text: mytext, second: mysecond, label: mylabel}, metric: f1,
           labels: {"0": nope, "1": yep}, prompt: "{mytext} so {mysecond}", choices: [No., Yep.],
           source: hub, revision: 4123456789abcdef0123456789abcdef01234567}
    mychoices: {kind: multiple_choice, files: {dev: c.csv, train: c.csv},
                columns: {choices: [mya, myb]}}
  zero_shot: {tasks: {dprd: {min_rows: {test: 0}}}}
  only: [snli, rte, qqp, mine, mychoices, dprd, race]
  cloze: mycloze.jsonl
"""
# Not beside published weights, where no program shows what they stand in place of.
TRAINED = "experiment: {finetune: {l2: 0.0, eps: 0.0, init_std: 0.0}}"
PUBLISHED = "experiment: {pretrained: {path: MyWeights}}"
# Numbers that must fit each other, and keys of lines.
FITTING = """
experiment:
  model: {transformer: {n_embd: 4004, n_head: 2002}}
  n_transfer: all
  seeds: {pretrain: [5001, 5002], finetune: [5003, 5004]}
  studies: {layer_transfer: {values: [none, 3, 4]}}
runtime: {pretrain_threads: 8001, finetune_threads: 8002, shards: 2}
"""
FITTING_TRAINED = """
experiment:
  pretrain: {updates: 6000, warmup: 5999, checkpoints: 2}
  finetune: {checkpoint: 60}
  studies: {ablation: {lines: {words: {pretrain.shuffled: words},
                               permuted: {finetune.embeddings: permuted}}}}
"""
FITTING_PUBLISHED = """
experiment: {pretrained: {updates: 4321}, seeds: {pretrain: [0]}, finetune: {checkpoint: 4321}}
"""


def keys_of_config(section: type[Settings], path: str = "") -> Iterator[str]:
    """Every key below a section of the config; `*` for a task or split."""
    for name, field in section.model_fields.items():
        inner = section_of(field.annotation)
        own = f"{path}{name}" + ".*" * show.has_names(field.annotation)
        yield from keys_of_config(inner, f"{own}.") if inner else [own]


def starred(key: str) -> str:
    """A key with a task's name replaced by `*`."""
    path = key.split(".")
    pairs = zip(("", *path[:-1]), path, strict=True)
    return ".".join("*" if before in NAMED else name for before, name in pairs)


def marked(world: bool, pretrained: bool) -> dict[str, Any]:
    """A valid config in which every number is another one, with all optional keys."""
    config = complete().model_dump(mode="json")
    experiment = config["experiment"] | {"zero_shot": {}}
    absent = {"pretrained", "studies", "tasks"}  # test_studies follows the keys of studies
    absent |= {"corpus", "pretrain"} if pretrained else set()
    config["experiment"] = {key: of for key, of in experiment.items() if key not in absent}
    for part in (MARKED, WORLD if world else DATA, PUBLISHED if pretrained else TRAINED):
        config = merge(config, yaml.safe_load(part))
    if pretrained:
        del config["experiment"]["corpus"]
    numbers, values = itertools.count(960), flat(config)
    for key, value in values.items():
        if isinstance(value, float):
            values[key] = float(f"0.{next(numbers)}7")
        elif isinstance(value, int) and not isinstance(value, bool):
            values[key] = next(numbers)
    config = nested(values)
    for part in (FITTING, FITTING_PUBLISHED if pretrained else FITTING_TRAINED):
        config = merge(config, yaml.safe_load(part))
    return changed(config, "experiment.world.books", 7000) if world else config


SHOWN = {  # what must appear for a key in what the dry run prints, if not its value
    "data": "mydata/MySNLI",
    "results": "--out made/world",
    "experiment.corpus.source": "--folder made/raw/wikitext103/",
    "experiment.pretrained.path": "--from mydata/MyWeights",
    "experiment.pretrained.updates": "--updates 4321 ",
    "experiment.pretrain.updates": "update-6000.safetensors",
    "experiment.pretrain.checkpoints": '"checkpoints": [0, 60, 6000]',
    "experiment.seeds.pretrain": "transformer/seed-5002/update-6000.safetensors",
    "experiment.seeds.finetune": "--seeds 5003 5004",
    "experiment.arch": "finetune_ablation_transformer",
    "experiment.n_transfer": '"n_transfer": 3',  # of a line
    "experiment.finetune.embeddings": "gpt1 permute ",  # of a line, too
    "experiment.all": "finetune_layer_transfer_transformer",
    "experiment.cloze": "--items mydata/mycloze.jsonl",
    "experiment.submission": '"unlabelled": true',
    "experiment.only": "made/examples/mine",
    "experiment.keep": "--keep ",
    "runtime.shards": "finetune_layer_transfer_transformer_2",
}


def shown(key: str, value: Any) -> str:
    """How a value must appear in what the dry run prints."""
    if key.endswith((".folder", ".revision")) or type(value) is int:
        return SHOWN.get(key, str(value))
    return SHOWN.get(key, json.dumps(value))


def said(tmp_path: Path, config: dict[str, Any]) -> str:
    """All that a dry run of `config` would hand to programs, and their exported runtime."""
    found = parse(config)
    commands = snakemake(ROOT, "-n", "--printshellcmds", *with_config(tmp_path, config), "all")
    handed = [found.runtime_of("pretrain"), found.runtime_of("finetune"), Plan(found).grid()]
    handed += [found.runtime.mem_mb, found.runtime.minutes]  # which a cluster is asked for
    others = [found.runtime.gpu_model, found.runtime.pretrain_processes]  # torchrun is given these
    return commands + json.dumps(others) + "".join(settings.to_json() for settings in handed)


def test_every_key_reaches_a_program(tmp_path):
    seen = set()
    for world, pretrained in ((True, False), (False, False), (False, True)):
        config = marked(world, pretrained)
        raw_data(tmp_path / "mydata", config)
        text = said(tmp_path, config)
        keys = {key: value for key, value in flat(config).items() if value is not None}
        keys = {k: of for k, of in keys.items() if not k.startswith("experiment.studies.")}
        keys.pop("results" if not world else "data", None)  # the other case shows it
        if pretrained:  # the other cases show the keys of the LSTM
            elsewhere = {"lstm", "arch", "shuffled", "pretrain", "embeddings"}
            keys = {k: of for k, of in keys.items() if not elsewhere & {*k.split(".")}}
            keys.pop("experiment.optimizer.eps")  # in place of which fine-tuning has its own
        else:  # of lines alone
            assert " tokens --shuffled words " in text and "gpt1 permute " in text
        assert not {key: of for key, of in keys.items() if shown(key, of) not in text}
        seen |= set(map(starred, keys))
    of_lines = {"experiment.pretrain.shuffled"}
    every = {key for key in keys_of_config(Config) if not key.startswith("experiment.studies")}
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
            (point,) = plan.study("mine").points
            assert trained(plan.config(point.variant.name), "rte", key) == other, key


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
    world = [config.experiment.world.to_json()]
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
        variant = plan.study("mine").points[1].variant.name
        its = given(plan.config(variant))
        changed_stages[key] = {stage for stage in mine if mine[stage] != its[stage]}
        own = {stage for stage in STAGES if plan.at(variant, stage) != UNCHANGED}
        assert variant != UNCHANGED and changed_stages[key] <= own, key
    assert len([key for key, stages in changed_stages.items() if stages]) > 40
    trains = {key for key, stages in changed_stages.items() if not stages}
    assert all(key.startswith(("finetune.", "n_transfer")) for key in trains)
