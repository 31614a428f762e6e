"""File names of the published weights, apart from the code that reads them.

Light on purpose (no torch): the Snakefile names its inputs by them.
"""

from typing import Literal

Format = Literal["openai", "huggingface"]

SHAPES_FILE = "params_shapes.json"
CHUNKS = tuple(f"params_{i}.npy" for i in range(10))
CONFIG_FILE, TENSORS_FILE = "config.json", "model.safetensors"
FILES: dict[Format, tuple[str, ...]] = {  # the weights of each format, without the tokenizer
    "openai": (SHAPES_FILE, *CHUNKS),
    "huggingface": (CONFIG_FILE, TENSORS_FILE),
}
