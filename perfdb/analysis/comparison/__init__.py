"""Statistics of comparisons: differences, noise, verdicts, and checks of trials."""
