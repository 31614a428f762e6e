"""Variants of made runs, by what they are of, as a run with the paper's studies would name them."""

from typing import Any

from gpt1.cell import PERMUTED, SHUFFLED, Arch, Cell, Corpus, NTransfer
from workflow.analysis import paper
from workflow.analysis.paper import FULL, LSTM, NEITHER, NO_AUX, NO_PRETRAINING, PaperModel
from workflow.configuration.studies import ARCH, LM_COEF, N_TRANSFER
from workflow.grid import Aux, Point, StudyPlan, Variant
from workflow.plan import name

PAPER_VARIANTS = (FULL, NO_PRETRAINING, NO_AUX, LSTM)
FURTHER_VARIANTS = (
    NEITHER,
    PaperModel("LSTM w/o pre-training", "", "lstm", n_transfer="none"),
    PaperModel("LSTM w/o aux LM", "", "lstm", "off"),
    PaperModel("LSTM w/o pre-training, w/o aux LM", "", "lstm", "off", "none"),
)
TITLES = {
    (v.arch, v.aux): v.title for v in (*PAPER_VARIANTS, *FURTHER_VARIANTS) if v.n_transfer == "all"
}
CONTROLS = paper.SHUFFLED, paper.SENTENCES_SHUFFLED, paper.PERMUTED
DEPTH: dict[Arch, int] = {"transformer": 12, "lstm": 1}


def variant(
    arch: Arch = "transformer",
    aux: Aux = "on",
    n_transfer: NTransfer | str = "all",
    corpus: Corpus = "books",
    n_layer: int | None = None,
    pretrain: tuple[int, ...] = (0, 1),
) -> Variant:
    """The plain variant of these."""
    depth = n_layer or DEPTH[arch]
    n = depth if n_transfer == "all" else n_transfer
    overlay: dict[str, Any] = {ARCH: arch} if arch != "transformer" else {}
    overlay |= {LM_COEF: 0} if aux == "off" else {}
    overlay |= {N_TRANSFER: n} if n != depth else {}
    (shuffled,) = [k for k, of in SHUFFLED.items() if of == corpus] or [None]
    read = {"experiment.pretrain.shuffled": shuffled} if shuffled else {}
    overlay |= read
    overlay |= {"experiment.finetune.embeddings": "permuted"} if corpus == PERMUTED else {}
    return Variant(
        **{"name": name(overlay), "arch": arch, "n_transfer": n, "n_layer": depth},
        **{"aux": aux, "corpus": corpus, "model": name(read), "pretrain": list(pretrain)},
        update=3000,
        plain=True,
    )


def cell(arch: Arch, task: str, aux: Aux, n_transfer: NTransfer, corpus: Corpus = "books") -> Cell:
    """The cell of a plain variant."""
    return Cell(variant(arch, aux, n_transfer, corpus).name, task)


def studies(
    tasks: list[str],
    layers: dict[Arch, list[NTransfer]],
    aux: tuple[Aux, ...] = ("on", "off"),
    controls: tuple[Corpus, ...] = (),
    pretrain: tuple[int, ...] = (0, 1),
    without_aux: list[int] | None = None,
    of_controls: tuple[int, ...] | None = None,
) -> dict[str, StudyPlan]:
    """Table 5 and Figure 2 (left) of a run with these layers."""

    def seeds(of: PaperModel) -> tuple[int, ...]:
        return of_controls if of_controls and of.corpus != "books" else pretrain

    table_5 = [
        Point(
            line=v.title, variant=variant(v.arch, v.aux, v.n_transfer, v.corpus, pretrain=seeds(v))
        )
        for v in (*PAPER_VARIANTS, *CONTROLS, *FURTHER_VARIANTS)
        if v.arch in layers
        and v.aux in aux
        and v.corpus in ("books", *controls)
        and (v.n_transfer == "none") <= ("none" in layers[v.arch])
    ]
    figure_2 = [
        Point(
            line=TITLES[arch, with_aux],
            axis="n_transfer",
            value=str(n),
            variant=variant(arch, with_aux, n, pretrain=pretrain),
        )
        for arch, every in layers.items()
        for with_aux in aux
        for n in every
        if with_aux == "on" or without_aux is None or n in ("none", every[-1], *without_aux)
    ]
    return {
        "ablation": StudyPlan(
            title="Ablations (Table 5)",
            tasks=tasks,
            points=table_5,
        ),
        "layer_transfer": StudyPlan(
            title="Layers transferred (Figure 2, left)",
            axis="n_transfer",
            tasks=tasks,
            points=figure_2,
        ),
    }
