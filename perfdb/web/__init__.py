"""Pages of perfdb; import results and analysis, never api."""
