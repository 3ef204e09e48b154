"""The endpoints, one module a subject; each is a plain function that hands over to results and analysis."""
