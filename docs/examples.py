"""Doctests stand in our docstrings as they are; the reference shows them under a heading of their own.

Without one, the reader of docstrings would take them for text, and their brackets for links.
"""

import re
from typing import Any

from griffe import Extension

HEADING = "Examples\n--------\n"


class ExampleHeadings(Extension):
    """Puts the heading before the first line of a doctest."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """What griffe calls with everything it has read."""
        if obj.docstring is not None and HEADING not in obj.docstring.value:
            obj.docstring.value = re.sub(
                r"^>>> ", lambda found: f"{HEADING}{found[0]}", obj.docstring.value, count=1, flags=re.M
            )
