"""Renderings of Tables: small functions from a list of Tables to text, a grid, plain data or a figure."""
