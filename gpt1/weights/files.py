"""File names of the published weights, apart from the code that reads them.

Light on purpose (no torch): the Snakefile uses them to name its inputs.
"""

SHAPES_FILE = "params_shapes.json"
CHUNKS = tuple(f"params_{i}.npy" for i in range(10))
CONFIG_FILE, TENSORS_FILE = "config.json", "model.safetensors"
FILES: dict[str, tuple[str, ...]] = {  # the weights of each format, without the tokenizer
    "openai": (SHAPES_FILE, *CHUNKS),
    "huggingface": (CONFIG_FILE, TENSORS_FILE),
}
# Git's ids of OpenAI's files, which identify a copied folder as the release.
# Source: github.com/openai/finetune-transformer-lm at a69b5c4, `git ls-tree -r HEAD model`.
RELEASE = dict(
    zip(
        FILES["openai"],
        (
            "29fac299ae848d7e447be84a33345edcf1b5353c",
            "84d83ac1f1cc878f56f33b167482c184491875d2",
            "0f19f4d4cda3d8f908e3faffd2cb2a8b9a4039da",
            "25bc19c72fdff69505a828ec6d73b32063532148",
            "5b2e6958d42a930966c9d602a012eb846ca67c83",
            "87ad158987e307e6aa64952610f466d750b73bc7",
            "74f3853316bba327229605dbedfe921996f11448",
            "5ef44e40bc076d0c9686d1273d54cbc16c3f0980",
            "d8d5c8d3bee9b20a677605ac1fe6c7af4df57c94",
            "f980f4b393716f396ae5ae6401708dcf4f270dc9",
            "d389eb2074dd74754444b8062aba78b49f6a9053",
        ),
        strict=True,
    )
)
