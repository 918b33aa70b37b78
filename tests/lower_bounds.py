"""The oldest versions that pyproject.toml allows, one `name==version` a line, for `make lower-bounds` to install.

`python lower_bounds.py serve excel` adds those extras.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lower_bounds(extras: list[str]) -> list[str]:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    asked = [*project["dependencies"], *(one for extra in extras for one in project["optional-dependencies"][extra])]
    return [f"{found[1]}=={found[2]}" for one in asked if (found := re.match(r"([\w.-]+)(?:\[\w+\])?>=([\w.]+)", one))]


if __name__ == "__main__":
    print("\n".join(lower_bounds(sys.argv[1:])))
