"""CSV: every table as a file of its own, figures unrounded."""

from __future__ import annotations

import csv
import io

from omba.reproduce.reproduction import Reproduction


def render(report: Reproduction) -> dict[str, str]:
    """The text of each table by the name of its file: the id, and a number where there are several."""
    files = {}
    for experiment, result in report.parts:
        for number, table in enumerate(result.tables, 1):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])
            files[f"{experiment.id}-{number}.csv" if len(result.tables) > 1 else f"{experiment.id}.csv"] = (
                text.getvalue()
            )
    return files
