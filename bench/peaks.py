"""The peaks that a share of is taken: dense bfloat16 FLOP/s of GPUs."""

# From the vendors' data sheets, by a part of the card's name.
PEAKS = {
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L4": 121e12,
    "A10G": 70e12,
    "A10": 125e12,
    "V100": 125e12,
    "T4": 65e12,
}


def peak(device: str) -> float | None:
    """The peak of a card by its name, dense bfloat16 FLOP/s; None for an unknown one."""
    return next((value for name, value in PEAKS.items() if name.lower() in device.lower()), None)
