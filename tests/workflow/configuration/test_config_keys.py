"""Every key, from the config's model: what it reaches, and whose files it changes."""

from typing import get_args

from gpt1.cell import Arch
from tasks.common.settings import Settings
from tests.workflow.configs import changed, one_study, small
from workflow.configuration.model import Config
from workflow.configuration.read import parse
from workflow.configuration.sections import Finetune, TaskEntry, section_of
from workflow.configuration.studies import flat
from workflow.plan import STAGES

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
