"""Peak dense bfloat16 FLOP/s of GPUs, the denominator of MFU."""

import re

# From the vendors' data sheets, by words of the card's name, the more specific ones first.
PEAKS = {
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100 NVL": 835e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L40": 181e12,
    "L4": 121e12,
    "A10G": 70e12,
    "A10": 125e12,
}


def peak(device: str) -> float | None:
    """The peak dense bfloat16 FLOP/s of a card by its name; None for an unknown card."""
    return next((PEAKS[name] for name in PEAKS if re.search(rf"\b{name}\b", device, re.I)), None)
