"""Runs that are alike: very many at once, by columns, where each is told by one log and nobody has to be asked."""
