"""Derived metrics within one run: declarations, their inputs, and the numbers put in."""

from perfdb.analysis.formulas.catalogue import BY_ID, FORMULAS, Formula
from perfdb.analysis.formulas.derivation import derive, explain
from perfdb.analysis.formulas.figures import Derived, Input, InputKind, RunFigures

__all__ = ["BY_ID", "FORMULAS", "Derived", "Formula", "Input", "InputKind", "RunFigures", "derive", "explain"]
