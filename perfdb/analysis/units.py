"""Conversion of printed text to numbers in base units, and back to printed text.

Base units are seconds, bytes, counts, per cent and their quotients. Prefixes of bytes are powers of 1024 and
prefixes of bits powers of 1000, unless the unit has its own scale (``MB/s 10^6``, ``ms/GB 10^9``). ``us one way`` is
half of a round trip. Conversion is exact rational arithmetic with one rounding at the end: a value in the wanted
unit stays the printed number.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from perfdb.analysis.metrics import BY_NAME

NARROW_SPACE, MINUS = "\u202f", "\u2212"
_MOST_DECIMALS = 6
# Numbers from here are printed in groups of three digits.
_GROUPED = 10_000
_BLANKS = f" \u00a0{NARROW_SPACE}"
SUM = " + "
"""Sign between printed numbers that add up to a value."""
# Enough digits for any float.
_WIDE = Context(prec=700)
# Checks read each printed number of a run several times.
_REMEMBERED = 4096
# A float below this has more digits than are printed.
_FEW_DIGITS = 1e9
# Whole numbers up to here are exact floats.
_EXACT = 2**53
# Thousands separators are commas or blanks in whole groups; "0,5" is refused, since the comma may be a decimal one.
# The exponent is limited to three digits, so that a hostile exponent cannot fill the memory.
_NUMBER = re.compile(
    rf"[+-]?(?:[1-9]\d{{0,2}}(?:,\d{{3}})+|[1-9]\d{{0,2}}(?:[{_BLANKS}]\d{{3}})+|(?=\.?\d)\d*)"
    r"(?:\.\d*)?(?:[eE][+-]?\d{1,3})?",
    re.ASCII,
)
_SEPARATORS = re.compile(f"[,{_BLANKS}]")

_SHAPES: dict[str, tuple[re.Pattern[str], tuple[int, ...]]] = {
    "mmm:ss.hs": (re.compile(r"(\d+):\s*([0-5]?\d\.\d+)", re.ASCII), (60, 1)),
    "mmm:ss": (re.compile(r"(\d+):\s*([0-5]?\d)", re.ASCII), (60, 1)),
    "hh:mm:ss": (re.compile(r"(\d+):\s*([0-5]?\d):\s*([0-5]?\d)", re.ASCII), (3600, 60, 1)),
    "hh:mm": (re.compile(r"(\d+):\s*([0-5]?\d)", re.ASCII), (3600, 60)),
    # The shell's ``time`` prints 1m8.810s.
    "mmmss.s": (re.compile(r"(\d+)m\s*([0-5]?\d(?:\.\d+)?)s", re.ASCII), (60, 1)),
}

_TIME = {
    Fraction(1): "s sec secs second seconds",
    Fraction(1, 100): "tick ticks",
    Fraction(1, 10**3): "ms msec msecs millisecond milliseconds",
    Fraction(1, 10**6): "us usec usecs µs \u03bcs microsecond microseconds",
    Fraction(1, 10**9): "ns nsec nanosecond nanoseconds",
    Fraction(60): "min minute minutes",
    Fraction(3600): "h hour hours",
}
_COUNTS = (
    "1 count counts trans tran tr Tr transaction transactions connects connect connections errors error segments "
    "segment packets packet processors processor users calls requests messages interrupts"
)
_PREFIXES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_BYTE_WORDS = ("B", "iB", "byte", "bytes", "Byte", "Bytes")
_BIT_WORDS = ("b", "bit", "bits")
_SCALE = re.compile(r"\s*\b(10|2)\^(\d{1,2})$")
_ONE_WAY = " one way"
_POWER_OF_BITS = re.compile(r"10\^(\d{1,2})\s*bits?")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit's kind (``data/time``) and its factor to base units."""

    kind: str
    factor: Fraction


# All units without a quotient by each of their spellings.
_SIMPLE = {
    **{word: _Unit("percent", Fraction(1)) for word in ("%", "percent")},
    **{word: _Unit("time", factor) for factor, words in _TIME.items() for word in words.split()},
    **{word: _Unit("count", Fraction(1)) for word in ("", *_COUNTS.split())},
    **{prefix + word: _Unit("data", Fraction(1024**n)) for prefix, n in _PREFIXES.items() for word in _BYTE_WORDS},
    **{prefix + word: _Unit("data", Fraction(1000**n, 8)) for prefix, n in _PREFIXES.items() for word in _BIT_WORDS},
}
# Words of three letters or more may have any case (MBYTES, Sec); "Mb" and "MB" differ.
_ANY_CASE = {word.casefold(): unit for word, unit in _SIMPLE.items() if len(word) > 2}


def _simple(unit: str) -> _Unit | None:
    power = _POWER_OF_BITS.fullmatch(unit)
    if power is not None:
        return _Unit("data", Fraction(10 ** int(power[1]), 8))
    return _SIMPLE.get(unit) or _ANY_CASE.get(unit.casefold())


def _rescaled(unit: str, prefix_factor: Fraction) -> _Unit | None:
    """Return a data unit whose prefix means another factor: MB of 10^6 bytes."""
    known, plain = _simple(unit), _simple(unit[1:])
    if known is None or plain is None or plain.kind != "data":
        return None
    return _Unit("data", plain.factor * prefix_factor)


@lru_cache(maxsize=1024)
def _unit(text: str) -> _Unit:
    """Parse a printed unit: ``ms``, ``MB/s``, ``MB/s 10^6``. Raise ValueError if unknown."""
    if text.endswith(_ONE_WAY):
        half = _unit(text.removesuffix(_ONE_WAY))
        if half.kind == "time":
            return _Unit(half.kind, half.factor * 2)
    written = re.sub(r"(?<=b)ps$", "/s", text.strip().replace(" per ", "/"))
    scale = _SCALE.search(written)
    numerator, slash, denominator = written[: scale.start() if scale else None].partition("/")
    above, below = _simple(numerator.strip()), _simple(denominator.strip()) if slash else _Unit("", Fraction(1))
    if scale is not None:
        # The scale belongs to the data, in "ns/GB 10^9" to the denominator.
        factor = Fraction(int(scale[1]) ** int(scale[2]))
        if slash and above is not None and above.kind != "data":
            below = _rescaled(denominator.strip(), factor)
        else:
            above = _rescaled(numerator.strip(), factor)
    if above is None or below is None:
        raise ValueError(f"{text!r} is not a unit that perfdb knows")
    return _Unit(f"{above.kind}/{below.kind}" if slash else above.kind, above.factor / below.factor)


def _digits(text: str) -> str:
    """Return a printed number without thousands separators. Raise ValueError for other texts."""
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped) is None:
        raise ValueError(f"{text!r} is not a number")
    return _SEPARATORS.sub("", stripped)


def _float(value: Fraction, text: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{text!r} is too large a number") from None


def _base(text: str, unit: str) -> tuple[Fraction, str]:
    """Return the exact value in base units, and the kind. Raise ValueError for a text that does not fit."""
    if unit not in _SHAPES:
        known = _unit(unit)
        return Fraction(Decimal(_digits(text))) * known.factor, known.kind
    pattern, weights = _SHAPES[unit]
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time of the form {unit}")
    return sum((Fraction(part) * each for part, each in zip(match.groups(), weights, strict=True)), Fraction()), "time"


def _is_plain(text: str) -> bool:
    """Return whether a text has only digits and perhaps a point."""
    digits = text.replace(".", "", 1)
    return digits.isdecimal() and digits.isascii()


@lru_cache(maxsize=_REMEMBERED)
def read_number(text: str) -> float:
    """Parse a printed number, also with thousands separators. Raise ValueError for other texts."""
    value = float(text if _is_plain(text) else _digits(text))
    if math.isinf(value):
        raise ValueError(f"{text!r} is too large a number")
    return value


def to_base(text: str, unit: str) -> float:
    """Convert a text in a unit or time shape to base. Raise ValueError otherwise."""
    if unit not in _SHAPES and _unit(unit).factor == 1:
        # Adding 0.0 removes the sign of "-0".
        return read_number(text) + 0.0
    return _float(_base(text, unit)[0], text)


def convert(text: str, unit: str, metric_name: str) -> float:
    """Convert a printed text to the storage unit of a metric.

    A sum of printed numbers (``1.98 + 970 Kbits/sec``) is added up; a part may have a unit of its own. Raise ValueError
    for an unknown unit, a unit of another kind and a text that is no number; KeyError for an unknown metric.
    """
    if SUM in text:
        parts = (part.partition(" ") for part in text.split(SUM))
        return math.fsum(convert(number, own or unit, metric_name) for number, _, own in parts)
    own = BY_NAME[metric_name].unit
    if unit not in _SHAPES and _factor(unit, own) == 1:
        return read_number(text)
    wanted = _unit(own)
    value, kind = _base(text, unit)
    if kind != wanted.kind:
        raise ValueError(f"{metric_name} is stored in {own}, which {unit!r} does not measure")
    return _float(value / wanted.factor, text)


@lru_cache(maxsize=1024)
def _factor(unit: str, wanted: str) -> Fraction | None:
    """Return the factor between units, None for different kinds. Raise ValueError if unknown."""
    have, want = _unit(unit), _unit(wanted)
    return have.factor / want.factor if have.kind == want.kind else None


def rescale(value: float, unit: str, wanted: str) -> float:
    """Convert a number to another unit. Raise ValueError for units of different kinds."""
    factor = _factor(unit, wanted)
    if factor is None:
        raise ValueError(f"{unit!r} and {wanted!r} measure different things")
    # A product or quotient with a whole number is rounded once, like the fraction.
    if factor.denominator == 1 and factor.numerator <= _EXACT:
        return float(value * factor.numerator)
    if factor.numerator == 1 and factor.denominator <= _EXACT:
        return value / factor.denominator
    return float(Fraction(value) * factor)


@lru_cache(maxsize=_REMEMBERED)
def _exponent(text: str) -> int:
    """Return the power of ten of the last printed digit, also of times."""
    if _is_plain(text):
        return -len(text.partition(".")[2])
    text = text.rpartition(SUM)[2].partition(" ")[0] if SUM in text else text
    return int(Decimal(_digits(re.split("[:m]", text)[-1].removesuffix("s"))).as_tuple().exponent)


def decimals(text: str) -> int:
    """Return the number of decimals of a printed number. Raise ValueError for other texts."""
    return max(0, -_exponent(text))


def step(text: str) -> float:
    """Return one in the last printed digit: 0.01 for ``9077.29``. Raise ValueError otherwise."""
    return decimal_step(-_exponent(text))


def round_half_up(value: float, decimals: int) -> str:
    """Format with decimals, halves away from zero, never "-0". Raise ValueError if not finite."""
    if not math.isfinite(value):
        raise ValueError(f"{value} has no decimals to print")
    shortest = repr(float(value))
    if "e" not in shortest:
        own = len(shortest) - shortest.index(".") - 1
        # Python rounds the binary value, which differs from decimal rounding at halves only.
        if own > decimals >= 0 and not (own == decimals + 1 and shortest[-1] == "5"):
            text = f"{value:.{decimals}f}"
            return text if text[0] != "-" or text.strip("-0.") else text[1:]
    rounded = Decimal(shortest).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _WIDE)
    return f"{abs(rounded) if rounded == 0 else rounded:f}"


def result_text(value: float, decimals: int = 0) -> str:
    """Return a value with one decimal more than ``decimals``, at least four significant digits."""
    if not math.isfinite(value):
        return "∞"
    magnitude = int(f"{value:e}".partition("e")[2]) if value else 0
    return round_half_up(value, max(3 - magnitude, decimals + 1, 0))


def count_text(number: int, noun: str) -> str:
    """Return a number with a noun: ``1 user``, ``5 users``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def figure_text(value: float) -> str:
    """Format a measured value: four significant digits, and all of a count: ``0.1461``, ``8 049 151``."""
    return group_digits(value) if float(value).is_integer() else significant_text(value)


def group_digits(value: float) -> str:
    """Format a number without decimals, grouped from 10 000: ``8 049 151``."""
    return f"{value:,.0f}".replace(",", NARROW_SPACE if abs(value) >= _GROUPED else "")


def significant_text(value: float, digits: int = 4) -> str:
    """Format a number with so many significant digits, in groups of three from 10 000: ``0.1461``, ``13 270``."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits - 1}e}")
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    if abs(rounded) >= _GROUPED:
        return group_digits(rounded)
    return f"{rounded:.{min(places, _MOST_DECIMALS)}f}"


def decimals_for(values: Iterable[float], least: int) -> int:
    """Return the decimals, ``least`` or more, that show the smallest number with two digits.

    A cost of 0.035 ms printed as 0.04 is 14% off. No digits are added that none of the numbers has.
    """
    known = [value for value in values if value != 0 and math.isfinite(value)]
    if not known:
        return least
    wanted = 1 - math.floor(math.log10(min(map(abs, known))))
    if wanted <= least:
        return least
    own = max(map(count_decimals, known))
    return max(least, min(_MOST_DECIMALS, wanted, own))


def round_for_print(value: float, least: int) -> str:
    """Return ``round_half_up(value, decimals_for([value], least))``, three times as fast."""
    shortest = repr(value)
    if "e" in shortest or not 0 < value < _FEW_DIGITS:
        return round_half_up(value, decimals_for([value], least))
    own = len(shortest) - shortest.index(".") - 1
    if own <= least:
        return shortest + "0" * (least - own)
    shown = max(least, min(_MOST_DECIMALS, 1 - math.floor(math.log10(value)), own))
    # Halves need the decimal digits, since Python rounds the binary value.
    if own == shown + 1 and shortest.endswith("5"):
        return round_half_up(value, shown)
    return f"{value:.{shown}f}"


# The unit that is a thousand times as large, and the amount from which it is easier to read.
_LARGER: Mapping[str, tuple[str, float]] = {
    "ms": ("s", 10_000),
    "bytes": ("kB", 1000),
    "kB": ("MB", 1000),
    "MB": ("GB", 1000),
    "GB": ("TB", 1000),
}


def scale_unit(unit: str, largest: float) -> tuple[str, float]:
    """Return the unit in which an amount of up to ``largest`` is easy to read, and the divisor for it."""
    divisor = 1.0
    while unit in _LARGER and largest / divisor >= _LARGER[unit][1]:
        unit, divisor = _LARGER[unit][0], divisor * 1000
    return unit, divisor


def count_decimals(value: float) -> int:
    """Return a finite number's decimals as Python prints; negative for large round numbers."""
    text = repr(float(value))
    if "e" not in text:
        return len(text) - text.index(".") - 1
    mantissa, _, exponent = text.partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent)


def finest_step(values: Sequence[float]) -> float | None:
    """Return one in the last digit of the finest number; None without numbers."""
    return decimal_step(max(map(count_decimals, values))) if values else None


@lru_cache(maxsize=1024)
def decimal_step(decimals: int) -> float:
    """Return one in the last digit of a number with so many decimals."""
    return float(f"1e{-decimals}")
