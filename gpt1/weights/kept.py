"""The kept weights of a fine-tuned cell: a folder with all that is needed to use them.

    kept/transformer/sst2/aux-on/layers-12/
        encoder.json, merges.bpe           the tokenizer
        seed-0.safetensors, seed-0.json    the weights of one seed, and what is to know of them

The weights are those that scored best on the selection split, which the cell's scores are of.
"""

import shutil
from pathlib import Path

import torch
from pydantic import BaseModel, ValidationError

from gpt1.cell import Cell
from gpt1.model.classifier import Classifier, TaskModel
from gpt1.settings import FinetuneSettings, RuntimeSettings
from gpt1.text import vocabulary
from gpt1.weights.checkpoint import build, read_tensors, write_tensors
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_json
from tasks.common.settings import first_fault
from tasks.spec import TaskSpec


class KeptFacts(BaseModel, frozen=True, extra="forbid"):
    """What the JSON beside the weights says of them.

    `labels` are the classes' names in the order of the logits; None for scores and for choices.
    `scores` run from 0 to 100, by split and metric. `digests` are those of the cell's JSON:
    tokenizer, encoded data, settings and code. `sha256` is that of the weights' file.
    """

    cell: Cell
    seed: int
    pretrain_seed: int
    checkpoint: str  # digest
    spec: TaskSpec
    labels: tuple[str, ...] | None
    n_vocab: int
    settings: FinetuneSettings
    runtime: RuntimeSettings
    scores: dict[str, dict[str, float]]
    digests: dict[str, str]
    versions: dict[str, str]
    sha256: str = ""


def weights_path(folder: Path, seed: int) -> Path:
    """Where the weights of a seed lie."""
    return folder / f"seed-{seed}.safetensors"


def kept_seeds(folder: Path) -> list[int]:
    """The seeds whose weights are in a folder. Raises InputError if there are none."""
    names = (path.stem.removeprefix("seed-") for path in folder.glob("seed-*.safetensors"))
    seeds = sorted(int(name) for name in names if name.isdecimal())
    if not seeds:
        raise InputError(
            f"{folder}: no kept cell; name the cell in experiment.keep and run snakemake {folder}"
        )
    return seeds


def save_tokenizer(folder: Path, tokenizer: Path) -> None:
    """Copy the tokenizer's two files, byte by byte, so that its digest stays the same."""
    folder.mkdir(parents=True, exist_ok=True)
    for source, name in zip(vocabulary.find(tokenizer), vocabulary.FILES, strict=True):
        shutil.copyfile(source, folder / name)


def save(folder: Path, weights: Path, facts: KeptFacts) -> None:
    """Write the weights of one seed, a file of `write_tensors`, and the facts about them.

    Raises InputError if that file is damaged.
    """
    path = weights_path(folder, facts.seed)
    write_tensors(path, read_tensors(weights))
    stored = facts.model_copy(update={"sha256": sha256_file(path)})
    write_json(path.with_suffix(".json"), stored.model_dump(mode="json"))


def read_facts(folder: Path, seed: int) -> KeptFacts:
    """The facts of one seed. Raises InputError if they are missing, invalid or of other weights."""
    if seed not in (seeds := kept_seeds(folder)):
        known = ", ".join(map(str, seeds))
        raise InputError(f"{folder}: no weights of seed {seed}; kept are those of {known}")
    path = weights_path(folder, seed)
    try:
        facts = KeptFacts.model_validate(read_json(path.with_suffix(".json")))
    except ValidationError as error:
        raise InputError(
            f"{path.with_suffix('.json')}: does not describe kept weights ({first_fault(error)}); "
            "keep the cell again"
        ) from None
    if sha256_file(path) != facts.sha256:
        raise InputError(f"{path}: not the file that its JSON describes; keep the cell again")
    return facts


def load(folder: Path, facts: KeptFacts, runtime: RuntimeSettings) -> TaskModel:
    """The fine-tuned model of one seed on the device. Raises InputError if its file is damaged."""
    spec, model, path = facts.spec, facts.settings.model, weights_path(folder, facts.seed)
    language_model = build(facts.cell.arch, model, facts.n_vocab, skip_pads=runtime.skip_pads)
    if facts.settings.method.read_layer != "top":
        language_model.cut(facts.settings.method.read_layer)
    classifier = Classifier(spec.family, language_model.n_hidden, spec.n_labels)
    task_model = TaskModel(language_model, classifier, runtime.shared_prefix)
    task_model.load_state_dict(read_tensors(path))
    return task_model.to(torch.device(runtime.device)).eval()
