"""Runs that are alike: very many at once, by columns, where there is nothing to say about any of them."""
