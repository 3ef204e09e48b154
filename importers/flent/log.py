"""flent: its data files (JSON, mostly compressed) and the summary that it prints."""

from importers.files.json_documents import head
from importers.flent import data_file, summary
from importers.model import Parsed, Text

NAME = "flent"
TITLE = "flent data file or summary"
VERSION = 1


def recognise(text: Text) -> bool:
    """The metadata of a data file, or the head of a summary."""
    return summary.recognise(text) or any(map(data_file.is_data, head(text)))


def parse(text: Text) -> Parsed:
    """Read the file as what it is."""
    reader = summary.parse if summary.recognise(text) else data_file.parse
    return reader(text, NAME, VERSION)
