"""A tour of perfdb: one declaration of steps that are walked by a browser, pictured, described and tested."""
