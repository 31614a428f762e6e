"""Convert published weights to a checkpoint, and the suite's weights to Hugging Face's format.

    python -m gpt1 convert import --from FOLDER --tokenizer FOLDER --out C.safetensors
    python -m gpt1 convert export C.safetensors --out FOLDER --tokenizer tokenizer
    python -m gpt1 convert export results/kept/full/rte --out FOLDER

`gpt1.weights.published` imports. An export is a folder that `transformers` reads, with its card.

A checkpoint is exported without the rows of its special tokens, which the format does not have.

Of a cell, `OpenAIGPTForSequenceClassification` reads the state at the last token that is not a pad,
which is the classify token, as `Classifier` does. Its linear map has no bias. But the map's input
is the output of a layer norm whose own bias nothing else reads, so our bias moves there: adding any
`d` with `d @ weight = bias` gives the same logits. A similarity adds the states of both orders, so
each order gets half of the bias, and the logits of the two are to be added.
`OpenAIGPTDoubleHeadsModel` gives one logit per choice and has a bias. Pads get a further row, of
zeros: `transformers` before 4.49 reads the state before the first pad, which with our id 0 would be
any unknown token.

Source: `transformers/models/openai/modeling_openai.py`.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save
from torch import Tensor

from gpt1.cell import CONFIG_FILE, TENSORS_FILE
from gpt1.model.classifier import TaskModel
from gpt1.predict import Predictor
from gpt1.settings import ModelSettings, TransformerShape
from gpt1.text import hub_tokenizer, vocabulary
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import N_SPECIAL
from gpt1.weights.checkpoint import load_checkpoint, read_facts
from gpt1.weights.published import (
    POSITIONS,
    PREFIX,
    TOKENS,
    config_of,
    import_weights,
)
from tasks.common.errors import InputError
from tasks.common.files import write_atomic, write_json
from tasks.task import Task

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

CHOICE_MODEL = "OpenAIGPTDoubleHeadsModel"
CLASS_MODEL = "OpenAIGPTForSequenceClassification"
CARD = """\
# {title}

{made}{lines}

Made with gpt1-suite, which implements "Improving Language Understanding by Generative Pre-Training"
(Radford et al., 2018). Text is made lower case. Nobody has examined the model's biases. Checked
with `transformers` {versions}. `AutoTokenizer` reads the tokenizer; `OpenAIGPTTokenizer` would give
other tokens.
"""
VERSIONS = "4.48, 4.57 and 5.23"
MADE = """\
**Made data.** Its {texts} are of a synthetic world: an example, which says nothing about English.

"""
SINGLE = """
`pipeline("text-classification", "NAME/{name}", top_k=None)("a text", truncation=True)` answers;
without `truncation`, a text of more than {n_ctx} tokens is an error."""
PAIRS = """
`ids` cuts texts as in training; above {side} tokens a side, no `truncation` of a pipeline does so.

```python
import torch
from transformers import {model}, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("NAME/{name}")
model = {model}.from_pretrained("NAME/{name}").eval()

def ids(*texts):  # of a first and a second text; a question may stand between them
    first, *question, second = (tokenizer.encode(t, add_special_tokens=False) for t in texts)
    question, second = sum(question, [])[:{side}], second[:{side}]
    room = {n_ctx} - 3 - len(question) - len(second) if question else {side}
    first = [tokenizer.bos_token_id, *first[:room], *question]
    return [*first, tokenizer.sep_token_id, *second, tokenizer.cls_token_id]

{ask}
probabilities = logits.softmax(0)
```"""
ASK = {
    "entailment": 'logits = model(torch.tensor([ids("a text", "another")])).logits[0]',
    "similarity": """\
both = [ids("a text", "another"), ids("another", "a text")]  # the logits of both orders are added
logits = model(torch.tensor(both)).logits.sum(0)""",
    "multiple_choice": """\
rows = [ids("a text", choice) for choice in ("one end", "another")]
ends = [torch.tensor([[len(row) - 1]]) for row in rows]  # the position to read
asked = [model(torch.tensor([[row]]), mc_token_ids=end) for row, end in zip(rows, ends)]
logits = torch.cat([answer.mc_logits[0] for answer in asked])""",
}


def export_checkpoint(
    checkpoint: str | Path, out: str | Path, tokenizer: str | Path | None = None
) -> bool:
    """Write a checkpoint as a `transformers` folder; returns whether its books are made data.

    If the tokenizer's folder is given, its files are written beside the weights, in the published
    layout and as `AutoTokenizer` reads them. Raises InputError for an LSTM, for a shape that the
    format cannot hold and for a tokenizer other than the checkpoint's.
    """
    out, facts = Path(out), read_facts(checkpoint)
    if type(facts.model.shape) is not TransformerShape:
        own = f"{facts.arch} of {facts.model.shape}"
        raise InputError(f"{checkpoint}: expected GPT-1's blocks, found {own}; export another")
    tensors = load_checkpoint(checkpoint, "transformer", facts.model, facts.tokenizer).tensors
    if tokenizer is not None and Tokenizer.load(tokenizer).digest != facts.tokenizer:
        raise InputError(f"{tokenizer}: expected the tokenizer of {checkpoint}, found another one")
    n_vocab, embed = facts.n_vocab, tensors.pop("embed")
    tensors |= {POSITIONS: embed[n_vocab + N_SPECIAL :], TOKENS: embed[:n_vocab]}
    _write_weights(out, tensors, facts.model)
    if tokenizer is not None:
        contents = vocabulary.contents(Path(tokenizer))
        for name, content in zip(vocabulary.HUB_FILES, contents, strict=True):
            with write_atomic(out / name, "wb") as file:
                file.write(content)
        hub_tokenizer.save(out, Tokenizer.load(tokenizer), facts.model.n_ctx, special=False)
    lines = f"Shape: `{facts.model.shape}`; context: {facts.model.n_ctx} tokens."
    heldout = {
        "perplexity": facts.heldout_perplexity,  # of tokens
        "bits_per_byte": facts.heldout_bits_per_byte,
    }
    known = {name: value for name, value in heldout.items() if value is not None}
    if known:
        lines += f" On held-out text: {', '.join(f'{k} {v:.3f}' for k, v in known.items())}."
    lines += f" Updates: {facts.update or 'unknown'}. Published as: {facts.source or 'not yet'}."
    use, text = "text-generation", {"type": "text", "name": "held-out books"}
    of_text = {} if facts.made else known  # a score on made text is of no data set
    shown = [_result(use, name, value, **text) for name, value in of_text.items()]
    made = "books" if facts.made else ""
    _write_card(out, made, use, f"A {facts.arch} language model", lines, shown)
    return facts.made


def export_cell(folder: Path, out: Path, seed: int | None = None) -> bool:
    """Write the model of one seed of the kept cell in `folder`, by default the first.

    Returns whether made data are behind it. Raises InputError for a damaged cell, and for a model
    that the format cannot hold: an LSTM, a feed-forward layer that is not four times as wide as
    n_embd, or a classifier that reads the embeddings. Nothing is written then.
    """
    cell = Predictor(folder, seed)
    settings = cell.record.settings
    shape, dropout, layer = settings.model.shape, settings.dropout, settings.method.read_layer
    if type(shape) is not TransformerShape or layer == 0:
        unfit = "a classifier on the embeddings" if layer == 0 else repr(shape)
        raise InputError(
            f"{folder}: Hugging Face's format has GPT-1's blocks alone, found {unfit}; use "
            "python -m gpt1 predict"
        )
    body, head = _tensors(cell.model)
    language_model = cell.model.language_model  # with the layers that the classifier reads
    shape = shape.model_copy(update={"n_layer": language_model.n_layer})
    _write_weights(
        out,
        body,
        settings.model.model_copy(update={"shape": shape}),
        head,
        embd_pdrop=dropout.embd,
        attn_pdrop=dropout.attn,
        resid_pdrop=dropout.resid,
        summary_first_dropout=dropout.clf,
        pad_token_id=language_model.n_rows,
        **_labels(cell.task),
    )
    hub_tokenizer.save(out, cell.tokenizer, settings.model.n_ctx)
    _write_card_of_cell(out, cell)
    return bool(cell.record.made)


def _write_weights(
    folder: Path,
    tensors: dict[str, Tensor],
    model: ModelSettings,
    head: dict[str, Tensor] | None = None,
    **config: Any,
) -> None:
    """Write `config.json` and `model.safetensors`; the tied LM head is not stored.

    `head` holds the tensors of a head on the model; `config` holds further keys, which override.
    """
    config = {
        **config_of(folder, model),
        **dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.1),
        "n_positions": model.n_ctx,
        "vocab_size": len(tensors[TOKENS]),
        "architectures": ["OpenAIGPTLMHeadModel"],
        "initializer_range": model.init_std,
        "tie_word_embeddings": True,
        **config,
    }
    if head is not None:
        tensors = {f"{PREFIX}{name}": tensor for name, tensor in tensors.items()} | head
    with write_atomic(folder / TENSORS_FILE, "wb") as file:
        contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
        file.write(save(contiguous, metadata={"format": "pt"}))
    write_json(folder / CONFIG_FILE, config, checksum=False)


def _labels(task: Task) -> dict[str, Any]:
    if task.family == "multiple_choice":
        return {"architectures": [CHOICE_MODEL]}
    names = dict(enumerate(task.labels))
    return {
        "architectures": [CLASS_MODEL],
        "problem_type": "single_label_classification",
        "id2label": {str(number): name for number, name in names.items()},
        "label2id": {name: number for number, name in names.items()},
    }


def _tensors(model: TaskModel) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters of the language model and of its head, by their names in `transformers`."""
    own, classifier = model.language_model, model.classifier
    tensors = {name: parameter.detach() for name, parameter in own.named_parameters()}
    embed = tensors.pop("embed")
    rows = torch.cat([embed[: own.n_rows], torch.zeros_like(embed[:1])])  # and one for pads
    tensors |= {TOKENS: rows, POSITIONS: embed[own.n_rows :]}
    weight, bias = classifier.weight.detach().T, classifier.bias.detach()
    if classifier.family == "multiple_choice":
        summary = "multiple_choice_head.summary"
        return tensors, {f"{summary}.weight": weight, f"{summary}.bias": bias}
    # The smallest `d` `[n_hidden]` with `d @ weight = bias`; half of it for a similarity.
    shift = bias.double() @ torch.linalg.pinv(classifier.weight.detach().double())
    shift = shift / 2 if classifier.family == "similarity" else shift
    last = f"h.{own.n_layer - 1}.ln_2.bias"
    return {**tensors, last: tensors[last] + shift.float()}, {"score.weight": weight}


def _write_card_of_cell(folder: Path, cell: Predictor) -> None:
    """Write the card of a cell's model, with its scores and with code that asks it."""
    record, results = cell.record, []
    (run,) = [run for run in record.seeds if run.seed == cell.seed]
    title = f"the synthetic world's {cell.task.title}" if "rows" in record.made else cell.task.title
    uses = ("text-classification", CLASS_MODEL), ("multiple-choice", CHOICE_MODEL)
    use, model = uses[record.family == "multiple_choice"]
    lines = [
        f"A {record.arch} fine-tuned on {run.train_rows:,} rows of {title}, seed {run.seed}, "
        f"{run.steps:,} updates.\n",
        "| split | metric | score | one answer for all |\n|---|---|--:|--:|",
    ]
    for split, constant in record.baselines.majority.items():
        for name, value in run.scores.get(split, {}).items():
            lines.append(f"| {split} | {name} | {value:.1f} | {constant[name]:.1f} |")
            own = {"type": cell.task.hub.repo or cell.task.name, "config": cell.task.name}
            own |= {"name": title, "split": split.replace("dev", "validation")}  # as on the hub
            if split != "select":  # rows of training
                results.append(_result(use, name, value, **own))
    ask, n_ctx = ASK.get(record.family), cell.n_ctx
    example, side = PAIRS if ask else SINGLE, n_ctx // 2 - 2
    lines.append(example.format(ask=ask, model=model, name=folder.name, n_ctx=n_ctx, side=side))
    made = " and ".join(record.made)
    # A score on made rows is none of the published set.
    shown = [] if "rows" in record.made else results
    _write_card(folder, made, use, f"{record.variant} on {title}", "\n".join(lines), shown)


def _result(use: str, metric: str, value: float, **data_set: str) -> "EvalResult":
    """A score of the card's metadata; `data_set` has its `type`, `name` and the like."""
    from huggingface_hub import EvalResult

    place: dict[str, Any] = {f"dataset_{key}": of for key, of in data_set.items()}
    return EvalResult(use, metric_type=metric, metric_value=round(value, 3), **place)


def _write_card(
    folder: Path,
    made: str,
    use: str,
    title: str,
    lines: str,
    results: list["EvalResult"],
) -> None:
    """Write the card, whose head is the metadata that the hub reads, with the `results`."""
    from huggingface_hub import ModelCardData

    data = ModelCardData(
        language="en",
        library_name="transformers",
        pipeline_tag=use,
        tags=["gpt1"],
        model_name=folder.name,
        eval_results=results or None,
    )
    note = MADE.format(texts=made) if made else ""
    body = CARD.format(made=note, versions=VERSIONS, title=title, lines=lines)
    with write_atomic(folder / "README.md") as file:
        file.write(f"---\n{data.to_yaml()}\n---\n\n{body}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    importing = commands.add_parser("import", help="published weights to a checkpoint of the suite")
    importing.add_argument("--from", required=True, dest="folder", type=Path)
    importing.add_argument("--tokenizer", required=True, help="folder of the vocabulary's files")
    importing.add_argument("--out", required=True, help="the checkpoint, a .safetensors file")
    importing.add_argument(
        "--settings", type=ModelSettings.parse, help="JSON of the model (default: of config.json)"
    )
    importing.add_argument("--updates", type=int, default=0, help="it was trained for; 0: unknown")
    importing.add_argument("--code", default="", help="digest of the code, kept with the weights")
    exporting = commands.add_parser("export", help="weights of the suite to Hugging Face's format")
    exporting.add_argument("weights", type=Path, help="a checkpoint, or the folder of a kept cell")
    exporting.add_argument("--out", required=True, type=Path, help="the folder")
    exporting.add_argument("--tokenizer", help="of a checkpoint: folder of its vocabulary's files")
    exporting.add_argument("--seed", type=int, help="of a cell (default: the first one kept)")
    exporting.add_argument("--overwrite", action="store_true", help="a folder that has files")
    a = parser.parse_args()
    if a.command == "export":
        is_cell = a.weights.is_dir()
        if (a.tokenizer if is_cell else a.seed) is not None:
            option, kind = ("tokenizer", "checkpoint") if is_cell else ("seed", "kept cell")
            raise InputError(f"--{option}: {a.weights} is no {kind}; leave the option out")
        if not a.overwrite and a.out.exists() and any(a.out.iterdir()):
            raise InputError(f"--out {a.out}: has files; give another folder, or --overwrite")
        if is_cell:
            made = export_cell(a.weights, a.out, a.seed)
        else:
            made = export_checkpoint(a.weights, a.out, a.tokenizer)
        share = f"to share it, run hf upload NAME/{a.out.name} {a.out}"
        print(f"{a.out}: {'of made data, an example' if made else share}", flush=True)
        return
    n_values = import_weights(a.folder, a.tokenizer, a.out, a.settings, a.updates, a.code)
    print(f"{a.out}: {n_values:,} released values from {a.folder}", flush=True)
