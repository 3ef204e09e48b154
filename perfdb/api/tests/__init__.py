"""Tests of the REST interface, one file an endpoint."""
