"""Typed command lines between the outputs of tools: behind a prompt, or beginning with the tool's name."""

import re
from functools import cache

_PROMPT = re.compile(
    r"""(?:
        (?:\[[^\]]*\] | [\w.-]+@[\w.-]+(?::\S*|\ \S+)? | [A-Za-z][\w.-]*(?=[$%]) | ~ | /\S*)? [$%#]  # [root@lab ~]#
        | [A-Z]:[^>]*>
        | \+{1,3}                                                                                     # of sh -x
    )\ (?P<command>[\w./~(][^=<>]*.*)""",
    re.VERBOSE,
)
_BEFORE = r"(?:(?:sudo|time|nohup|exec|timeout \S+|numactl(?: -\S+)*|taskset(?: -c)? \S+|ip netns exec \S+) )*"


def find_command(line: str, tool: str) -> str | None:
    """Return the typed command of a line, without prompt; None for other lines.

    Behind a prompt any command counts, else one of ``tool`` (a pattern) with an option or argument.
    """
    if (prompt := _PROMPT.match(line.lstrip())) is not None:
        return prompt["command"].strip()
    return line.strip() if _of_tool(tool).match(line.lstrip()) is not None else None


@cache
def _of_tool(tool: str) -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE}(?:\S*/)?{tool} +(?:-\w|\S+$|\S+ -)")
