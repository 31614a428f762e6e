"""Books of a study's own: the embedded world's with something left out, or with rows planted.

Their name says how they differ (`without-kinds-remarks`, `planted-1-4-16-32`), and all that is made
of them lies in a folder of that name, laid out as a run is: world, corpus, pretrain, cells.
"""

import re
import sys
from collections.abc import Iterator

from pydantic import ValidationError

from gpt1.cell import Arch, PretrainedModel
from tasks.common.errors import InputError
from tasks.common.settings import first_fault
from tasks.world.planting import TASKS
from tasks.world.settings import WorldSettings
from workflow.config_studies import Change, Study
from workflow.configuration.model import Config
from workflow.study_plan import StudyPlan, books_folder

WITHOUT = r"without(?:-[a-z]+)+"  # regular expressions of their names
PLANTED = r"planted(?:-[1-9][0-9]*)+"


def are_the_worlds(config: Config) -> bool:
    """Whether the books are the embedded world's, of which others can be made."""
    corpus = config.experiment.corpus
    is_own = corpus is not None and not corpus.source and corpus.folder in (None, "books")
    return is_own and config.data is None and config.experiment.world is not None


def world(config: Config, name: str) -> WorldSettings:
    """For `tasks.world`: the settings of the books `without-KIND-...`.

    Raises InputError for another name, an unknown kind of discourse, one that the world's books do
    not have, and where no other kind is left.
    """
    given = config.experiment.world
    assert given is not None, "the books are not the world's"
    kinds = name.split("-")[1:]
    if kinds != sorted(set(kinds)):
        right = "-".join(("without", *sorted(set(kinds))))
        raise InputError(f"books {name}: their name is {right}; use that")
    shares: dict[str, float] = {**given.discourse}  # type: ignore[dict-item]
    shares |= dict.fromkeys(kinds, 0.0)
    try:
        made = WorldSettings.model_validate({**given.model_dump(), "discourse": shares})
    except ValidationError as error:
        raise InputError(f"books {name}: {first_fault(error)}") from None
    for kind, share in given.shares().items():
        if kind in kinds and not share:
            raise InputError(f"books {name}: the world's have no {kind} anyway; leave it out")
    return made


def world_at(config: Config, name: str) -> WorldSettings:
    """The same of books that were asked for by their path. Exits with a line if there are none."""
    try:
        return world(config, name)
    except InputError as error:
        sys.exit(f"error: {error}")


def counts(name: str) -> list[int]:
    """How often the rows of `planted-N-...` are planted."""
    return [int(number) for number in re.findall(r"-(\d+)", name)]


def planted_tasks(config: Config) -> list[str]:
    """The tasks of the run whose rows can be planted."""
    return [task for task in TASKS if task in config.experiment.tasks]


def faults(config: Config, change: Change) -> Iterator[str]:
    """Why books of its own cannot be made for a study's line, one line each."""
    if not are_the_worlds(config):
        yield "without and planted change the embedded world's books, which this run does not read"
        return
    if change.without and change.planted:
        yield "without and planted are of different books; give one of them"
    if change.n_transfer == "none":
        yield "n_transfer none copies nothing of what books teach; remove it"
    for key in ("block", "n_layer", "n_hidden", "update", "prompted"):
        if getattr(change, key) != Change.model_fields[key].default:
            yield f"{key} is of a language model that reads the run's own books; remove it"
    if change.without:
        try:
            world(config, change.books)
        except InputError as error:
            yield str(error)


def planted_faults(study: Study) -> Iterator[str]:
    """Why a study that plants rows cannot be made, one line each."""
    changes = [*study.beside.values(), *study.lines.values()]
    if not any(change.planted for change in changes):
        return
    if [bool(change.books) for change in changes] != [False, True] or study.axis:
        yield (
            "planted rows are compared with the run's own books; give one line, with planted, and "
            "one beside, without it"
        )
    for task in study.tasks:
        if task not in TASKS:
            yield f"tasks: no rows of {task} are planted; give some of {', '.join(TASKS)}"


def models(config: Config, arch: Arch) -> list[PretrainedModel]:
    """The language models that read the books: of the same seeds as the run's own in its cells."""
    seeds = config.experiment.seeds
    return [PretrainedModel(arch, seed) for seed in seeds.pretrain[: len(seeds.finetune)]]


def files(config: Config, study: StudyPlan) -> list[str]:
    """What a study of such books reads beside its cells.

    The probes of its language models after the last update, and the run's own model's; which rows
    were planted, and what a search of the books finds of them.
    """
    found = []
    archs = dict.fromkeys(cell.arch for cell in study.cells())
    for name in study.books():
        folder = books_folder("<results>", name)
        if study.predicted:
            update = config.updates()[-1]
            found += [m.probes(folder, update) for arch in archs for m in models(config, arch)]
        if name.startswith("planted"):
            found.append(folder / "world" / "manifest.json")
            found += [folder / "contamination" / f"{t}.json" for t in planted_tasks(config)]
    return [str(path) for path in found]
