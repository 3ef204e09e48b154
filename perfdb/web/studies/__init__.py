"""The pages of a study: its report as its document prints it, what does not follow, and what is still to be run."""
