"""The figures: a run's are functions of `run.py`, a study's is `lines.draw`; `style` is common."""

# The tables that each figure of a run shows, in the order in which its function takes them.
TABLES = {
    "ablation": ["ablation"],
    "cloze": ["cloze"],
    "differences": ["ablation"],
    "figure2": ["layer_transfer", "zero_shot"],
    "layer_transfer": ["layer_transfer"],
    "pretraining": ["pretraining", "cost_pretraining"],
    "zero_shot": ["zero_shot"],
}
