"""Setting one sample against another: noise, ratio with interval, verdict, and the summary of a table."""
