"""The answers of the declarations' examples as pages print each."""

import json
from pathlib import Path

_STORED = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
COMPARING: dict[str, list[str]] = _STORED["comparing"]
"""Answers of each statement of the comparison method."""
OTHERS: dict[str, str] = _STORED["others"]
"""The answer of each other declaration."""
