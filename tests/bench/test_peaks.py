"""The peak of a card is found by its name."""

from bench.peaks import peak


def test_an_unknown_card_has_no_peak():
    assert peak("NVIDIA H100 80GB HBM3") == 989e12
    assert peak("NVIDIA A100-SXM4-40GB") == 312e12
    assert peak("NVIDIA H100 PCIe") == 756e12
    assert peak("Some Card 3000") is None
