"""Derived metrics within one run: declarations, their inputs, and the numbers put in."""

from perfdb.analysis.formulas.catalogue import BY_ID, FORMULAS
from perfdb.analysis.formulas.derivation import derive, explain
from perfdb.analysis.formulas.formula import Formula
from perfdb.analysis.formulas.load_tools import SERIES
from perfdb.analysis.formulas.run_values import Derived, Input, InputKind, RunFigures

__all__ = ["BY_ID", "FORMULAS", "SERIES", "Derived", "Formula", "Input", "InputKind", "RunFigures", "derive", "explain"]
