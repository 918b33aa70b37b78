"""The tutorials: `python docs/notebooks.py` runs every notebook and writes what it prints into it.

They are run here, one after the other in this process, and not by a server: the data are read and the kernels compiled
once for all of them, which is most of the time they take. `--check` writes nothing, and says where they print something
else.
"""

import ast
import contextlib
import functools
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import omba

LEARN = Path(__file__).resolve().parent / "learn"
NUMBER = re.compile(r"[-+−]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells made anew."""
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"], cell["outputs"] = count, run_cell("".join(cell["source"]), names, count)
    return notebook


def run_cell(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line where that is an expression."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), names)
        if last is not None:
            value = eval(compile(last, f"cell {count}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        data = {"text/plain": [repr(value)]}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = [value._repr_html_()]
        outputs.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data})
    return outputs


def lacking(path: Path) -> str:
    """What a notebook needs and this machine does not have, in a sentence; nothing where all is there."""
    if path.stem == "on-spark":
        from omba.spark.cluster import check

        try:
            check()
        except omba.errors.OmbaError as error:
            return str(error)
    return ""


def text_of(notebook: dict[str, Any]) -> list[str]:
    """What each cell shows, as text."""
    shown = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            shown.append("".join(output.get("text") or output["data"]["text/plain"]))
    return shown


def differ(old: str, new: str) -> bool:
    """Whether two outputs say different things: other words, or numbers that are a tenth apart or more.

    Machines round differently, so the last digits may change, and with them the width of a column.
    """
    words = [NUMBER.sub("0", text).split() for text in (old, new)]
    figures = [[float(one.replace(",", "").replace("−", "-")) for one in NUMBER.findall(text)] for text in (old, new)]
    if words[0] != words[1] or len(figures[0]) != len(figures[1]):
        return True
    return any(abs(a - b) > 0.1 * max(abs(a), abs(b), 0.1) for a, b in zip(*figures, strict=True))


@contextlib.contextmanager
def prepared():
    """A folder to work in, and data sets that are read once."""
    real, here = omba.datasets.complete_journey, Path.cwd()
    omba.datasets.complete_journey = functools.cache(real)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            omba.datasets.complete_journey = real


def difference(path: Path) -> str:
    """What a notebook prints now, beside what it shows; nothing where they say the same."""
    kept = json.loads(path.read_text())
    shown = text_of(kept)
    for old, new in zip(shown, text_of(run(kept)), strict=True):
        if differ(old, new):
            return f"{path.name} now prints:\n{new}\ninstead of:\n{old}\nIf that is meant: python docs/notebooks.py"
    return ""


def main(arguments: list[str]) -> int:
    """Run notebooks and write what they print into them; with `--check` only say where they print something else."""
    names, found = [name for name in arguments if name != "--check"], ""
    with prepared():
        for path in sorted(LEARN.glob("*.ipynb")):
            if not names or path.stem in names:
                print(path.stem, missing := lacking(path), flush=True)
                if missing:
                    continue
                if "--check" in arguments:
                    found += difference(path)
                    continue
                notebook = run(json.loads(path.read_text()))
                path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    print(found, end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
