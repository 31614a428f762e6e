"""Export a fine-tuned cell to `transformers`: config, weights and tokenizer in one folder.

`OpenAIGPTForSequenceClassification` reads the state at the last token that is not a pad, which is
the classify token, as `Classifier` does. Its linear map has no bias. But the map's input is the
output of a layer norm whose own bias nothing else reads, so our bias moves there: adding any `d`
with `d @ weight = bias` gives the same logits. A similarity adds the states of both orders, so each
order gets half of the bias, and the logits of the two are to be added. `OpenAIGPTDoubleHeadsModel`
gives one logit per choice and has a bias. Pads get a further row, of zeros: `transformers` before
4.49 reads the state before the first pad, which with our id 0 would be any unknown token.

Source: `transformers/models/openai/modeling_openai.py`.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpt1.model.classifier import Classifier, TaskModel
from gpt1.settings import TransformerShape
from gpt1.text import hub_tokenizer
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights.kept import KeptCell
from gpt1.weights.published import POSITIONS, TOKENS, write_huggingface
from tasks.common.errors import InputError
from tasks.task import Task

CHOICE_MODEL = "OpenAIGPTDoubleHeadsModel"
CLASS_MODEL = "OpenAIGPTForSequenceClassification"


def write(folder: Path, cell: KeptCell, task_model: TaskModel, task: Task) -> None:
    """Write the model of one seed of a cell to a `transformers` folder.

    Raises InputError for a model that the format cannot hold: an LSTM, a feed-forward layer that
    is not four times as wide as n_embd, or a classifier that reads the embeddings.
    """
    settings = cell.record.settings
    model, method = settings.model, settings.method
    if type(model.shape) is not TransformerShape or method.read_layer == 0:
        unfit = "a classifier on the embeddings" if method.read_layer == 0 else repr(model.shape)
        raise InputError(
            f"{cell.folder}: Hugging Face's format has GPT-1's blocks alone, found {unfit}; use "
            "python -m gpt1 predict"
        )
    body, head = _tensors(task_model)
    layers = task_model.language_model.n_layer  # up to the one that the classifier reads
    shape, dropout = model.shape.model_copy(update={"n_layer": layers}), settings.dropout
    write_huggingface(
        folder,
        body,
        model.model_copy(update={"shape": shape}),
        head,
        embd_pdrop=dropout.embd,
        attn_pdrop=dropout.attn,
        resid_pdrop=dropout.resid,
        summary_first_dropout=dropout.clf,
        pad_token_id=task_model.language_model.n_rows,
        **_labels(task),
    )
    hub_tokenizer.save(folder, Tokenizer.load(cell.folder), model.n_ctx)


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
    last = f"h.{own.n_layer - 1}.ln_2.bias"
    return {**tensors, last: tensors[last] + _shift(classifier)}, {"score.weight": weight}


def _shift(classifier: Classifier) -> Tensor:
    """The smallest `d` `[n_hidden]` with `d @ weight = bias`; half of it for a similarity."""
    weight, bias = classifier.weight.detach().double(), classifier.bias.detach().double()
    shift = bias @ torch.linalg.pinv(weight)
    return (shift / 2 if classifier.family == "similarity" else shift).float()
