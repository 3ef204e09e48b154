"""The colours of series, which everybody must tell apart: distances as seen with and without colour blindness.

Colours are compared in Oklab (Ottosson, 2020), where a step of 0.02 is just visible; what people without red, green
or blue receptors see is simulated by the matrices of Machado, Oliveira and Fernandes (2009).
"""

import re
from collections.abc import Sequence
from itertools import combinations
from math import dist
from pathlib import Path

import pytest

from perfdb.analysis.render.charts.chart_series import PALETTE

TOKENS = Path(__file__).resolve().parents[3] / "frontend" / "static" / "css" / "tokens.css"
SIGHTS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
_TO_LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_LAB = (
    (0.2104542553, 0.793617785, -0.0040720468),
    (1.9779984951, -2.428592205, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.808675766),
)

Matrix = Sequence[Sequence[float]]


def colours(theme: int) -> tuple[str, list[str]]:
    """The surface and the series' colours of the light (0) or dark (1) theme, as the style sheet says them."""
    pairs = dict(re.findall(r"--([a-z]+-?\d?): light-dark\((#\w{6}, #\w{6})\)", TOKENS.read_text(encoding="utf-8")))
    chosen = {name: pair.split(", ")[theme] for name, pair in pairs.items()}
    return chosen["surface"], [chosen[f"series-{number}"] for number in range(PALETTE)]


def linear(colour: str) -> list[float]:
    """Red, green and blue from 0 to 1, in proportion to light."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def seen(colour: str, sight: Matrix) -> list[float]:
    """A colour in Oklab, as somebody with this sight sees it."""
    light = [min(1.0, max(0.0, part)) for part in times(sight, linear(colour))]
    return times(_TO_LAB, [part ** (1 / 3) for part in times(_TO_LMS, light)])


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_series_look_alike(theme: int, sight: str) -> None:
    _, series = colours(theme)
    near = {
        (one, other): round(apart, 3)
        for one, other in combinations(series, 2)
        if (apart := dist(seen(one, SIGHTS[sight]), seen(other, SIGHTS[sight]))) < 0.08
    }
    assert near == {}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_series_stands_out_from_the_surface(theme: int) -> None:
    surface, series = colours(theme)
    for colour in series:
        lower, higher = sorted((luminance(surface), luminance(colour)))
        assert (higher + 0.05) / (lower + 0.05) >= 3, colour
