"""The same results in other software that keeps results: how long bringing them in and the main question take."""
