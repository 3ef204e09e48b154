"""Tests of the REST API, one file an endpoint."""
