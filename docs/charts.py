"""The charts of the pages: `python docs/charts.py`, or `make charts`, draws them from the figures that the pages print.

Figures are recorded once, in the tables of the pages: what `make bench` printed, and what `omba reproduce` wrote. A
chart is drawn from such a table, so page and chart cannot disagree, and a test says when one has not been drawn anew.
Charts are plain SVG whose text has the colour of the page around it; by itself, a file follows light and dark.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parent
CHARTS = DOCS / "images" / "charts"
WIDTH, LABELS, ROW, TOP = 540, 200, 25, 46
"""A width that can still be read on a phone; where bars begin; a row's height; where the first one is."""
LIGHT, DARK = "color:#23262b;background:#fff", "color:#e3e5e8;background:#1e2129"
ALONE = f"<style>.chart{{{LIGHT}}}@media (prefers-color-scheme:dark){{.chart{{{DARK}}}}}</style>"
"""Colours of a file that is looked at by itself; in a page it has the page's."""
SHORTER = {
    "keeps its rules current": "keeps rules current",
    "looks at all pairs anew": "looks at all pairs",
    "SciPy matrix product": "SciPy product",
    "the paper's equations in NumPy": "the paper's, in NumPy",
    "OMBA, no categories": "no categories",
}
"""What labels that have no room beside their bars say instead."""
Row = dict[str, str]


@dataclass(frozen=True)
class Bar:
    """A line of a chart: what it is of, how much, what is written beside it, and whether it is of OMBA."""

    label: str
    value: float
    note: str
    ours: bool = False


def number(cell: str) -> float:
    """The first number in a cell: 0.646 of `0.646 ±0.004`, 1744 of `1,744`; nothing where there is none."""
    found = re.search(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", cell)
    return float(found[0].replace(",", "")) if found else math.nan


def printed(page: str, title: str) -> list[Row]:
    """The table that a command printed under a title, as it stands on a page; the title may be a pattern."""
    text = (DOCS / page).read_text()
    found = re.search(rf"^{title}[^\n]*\n\n((?:  .*\n)+)", text, re.MULTILINE)
    if not found:
        raise SystemExit(f"docs/{page} has no table under {title!r}, which a chart is drawn from: see docs/charts.py")
    head, *lines = [re.split(r" {2,}", line.strip()) for line in found[1].splitlines()]
    return [dict(zip(head, line, strict=False)) for line in lines if line[0] not in ("reached", "MISSED")]


def written(page: str, head: str) -> list[Row]:
    """A table in Markdown, found by the beginning of its first line."""
    text = (DOCS / page).read_text()
    found = re.search(rf"^({re.escape(head)}.*)\n\|[-| :]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    if not found:
        raise SystemExit(f"docs/{page} has no table that begins with {head!r}, which a chart is drawn from")
    names, *lines = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        for line in (found[1] + "\n" + found[2]).splitlines()
    ]
    return [dict(zip(names, line, strict=False)) for line in lines]


def svg(title: str, height: float, inside: Iterable[str]) -> str:
    """The drawing around what is drawn."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {WIDTH} {height:g}" '
        f'font-family="system-ui,sans-serif" font-size="13"><title>{escape(title)}</title>{ALONE}\n'
        f'<text x="8" y="20" font-weight="600" fill="currentColor">{escape(title)}</text>\n'
        + "\n".join(inside)
        + "\n</svg>\n"
    )


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="currentColor"{more}>{escape(words)}</text>'


def bars(title: str, rows: list[Bar], log: bool = False) -> str:
    """A bar a row from zero; or, where values are orders of magnitude apart, a dot a row by the logarithm."""
    values = [row.value for row in rows]
    low, high = (10 ** math.floor(math.log10(min(values))), max(values)) if log else (0.0, max(values))
    room = WIDTH - LABELS - 24 - 7.2 * max(len(row.note) for row in rows)

    def place(value: float) -> float:
        share = math.log(value / low) / math.log(high / low) if log else value / high
        return LABELS + room * share

    drawn = []
    for tick in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1) if log else ():
        x, end = place(10.0**tick), TOP + ROW * len(rows) - 8
        drawn.append(f'<path d="M{x:.0f} {TOP - 10}V{end}" stroke="currentColor" opacity=".15"/>')
        drawn.append(text(x, end + 15, f"{10.0**tick:g}", ' text-anchor="middle" font-size="11" opacity=".7"'))
    for number_of_row, row in enumerate(rows):
        y, x = TOP + ROW * number_of_row, place(row.value)
        colour, weight = ("#00a08a", ' font-weight="600"') if row.ours else ("#8b95a1", "")
        drawn.append(text(LABELS - 8, y + 5, shorten(row.label), f' text-anchor="end"{weight}'))
        if log:
            drawn.append(f'<path d="M{LABELS} {y}H{x:.0f}" stroke="{colour}" stroke-width="2" opacity=".6"/>')
            drawn.append(f'<circle cx="{x:.0f}" cy="{y}" r="6" fill="{colour}"/>')
        else:
            drawn.append(
                f'<rect x="{LABELS}" y="{y - 8}" width="{x - LABELS:.0f}" height="16" rx="2" fill="{colour}"/>'
            )
        drawn.append(text(x + 10, y + 5, row.note, weight))
    return svg(title, TOP + ROW * len(rows) + (14 if log else -4), drawn)


def shorten(label: str) -> str:
    """A label that has room beside its bar."""
    for long, short in SHORTER.items():
        label = label.replace(long, short)
    return label if len(label) <= 25 else label[:24].rstrip() + "…"


def scatter(title: str, across: str, points: list[tuple[float, float, str, bool]]) -> str:
    """Points with their names: seconds across, by their logarithm, and how good it is upwards."""
    height, left, right, bottom = 330, 48, WIDTH - 16, 290
    low, high = min(x for x, *_ in points) / 1.5, max(x for x, *_ in points) * 1.5
    least, most = min(y for _, y, *_ in points) - 0.03, max(y for _, y, *_ in points) + 0.03
    drawn = [f'<path d="M{left} {TOP - 8}V{bottom}H{right}" fill="none" stroke="currentColor" opacity=".4"/>']
    for tick in (value for value in (1, 2, 5, 10, 20, 50, 100, 200) if low <= value <= high):
        x = left + (right - left) * math.log(tick / low) / math.log(high / low)
        drawn.append(text(x, bottom + 16, f"{tick}", ' text-anchor="middle" font-size="11"'))
    for tick in range(math.ceil(least * 20), math.floor(most * 20) + 1):
        y = bottom - (bottom - TOP) * (tick / 20 - least) / (most - least)
        drawn.append(text(left - 6, y + 4, f"{tick / 20:g}", ' text-anchor="end" font-size="11"'))
    drawn.append(text(right, bottom + 32, across, ' text-anchor="end" font-size="11"'))
    taken: list[tuple[float, float, float]] = []
    for seconds, good, name, ours in points:
        x = left + (right - left) * math.log(seconds / low) / math.log(high / low)
        y = bottom - (bottom - TOP) * (good - least) / (most - least)
        colour, weight = ("#00a08a", ' font-weight="600"') if ours else ("#8b95a1", "")
        wide = 7.0 * len(name)
        places = [(x + 11, y + 4), (x - 11 - wide, y + 4), (x - wide / 2, y - 11), (x - wide / 2, y + 20)]
        at = next((place for place in places if free(*place, wide, taken)), places[0])
        taken.append((*at, wide))
        drawn.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="6" fill="{colour}"/>')
        drawn.append(text(*at, name, f'{weight} font-size="12"'))
    return svg(title, height, drawn)


def free(x: float, y: float, wide: float, taken: list[tuple[float, float, float]]) -> bool:
    """Whether words that begin at a place fit into the picture and cover no others."""
    apart = (abs(y - other) >= 14 or x > begin + length or begin > x + wide for begin, other, length in taken)
    return x >= 48 and x + wide <= WIDTH and all(apart)


def seconds_of(title: str, table: list[Row], label: str, note: str = "") -> str:
    """Who took how long, the quickest first; of those that were stopped, when."""
    rows = []
    for row in table:
        stopped = row["ended"] != "done"
        more = f", {row[note]} {note.partition(' ')[0]}" if note and not stopped else ""
        words = f"over {row['seconds']} s" if stopped else f"{row['seconds']} s{more}"
        rows.append(Bar(row[label].partition(":")[0], number(row["seconds"]), words, row[label].startswith("OMBA")))
    return bars(title, sorted(rows, key=lambda row: row.value), log=True)


def rate(dimensions: str) -> str:
    rows = [
        row
        for row in printed("benchmarks.md", "Products learned a second")
        if row["d"] == dimensions and row["threads"] == "1"
    ]
    found = [
        Bar(row["method"], number(row["thousand a second"]), row["thousand a second"], row["method"] == "OMBA")
        for row in rows
    ]
    return bars(
        f"Thousand products learned a second, d = {dimensions}", sorted(found, key=lambda bar: -bar.value), log=True
    )


def quality() -> str:
    points = []
    for row in printed("benchmarks.md", "Seconds of learning and what they bring"):
        name = row["method"].partition(",")[0].replace(" (Item2Vec)", "")
        passes = (
            f", {row['passes']} passes"
            if row["passes"] not in ("its own", "1")
            else ", 1 pass"
            if row["passes"] == "1"
            else ""
        )
        points.append((number(row["seconds"]), number(row["MRR"]), name + passes, name == "OMBA"))
    return scatter("How good (MRR), after so many seconds of learning", "seconds of learning", points)


def growth(title: str, words: str, unit: str) -> str:
    rows = printed("benchmarks.md", title)
    size = next(iter(rows[0]))
    found = [
        Bar(f"{row[size]} {unit}", number(row["seconds"]), f"{row['seconds']} s, {row['peak GB']} GB", True)
        for row in rows
    ]
    return bars(words, found, log=True)


def hidden() -> str:
    """The retrieval test of results.md: the paper's, ours and the best other method, a group for each data set."""
    found = []
    for row in written("results.md", "| | paper's OMBA | OMBA |"):
        data, *_ = row.values()
        short = data.replace("The Complete Journey, ", "").replace("product types", "types")
        for column, cell in list(row.items())[1:]:
            value = re.search(r"0\.\d+", cell)
            if value:
                other = re.match(r"[A-Z]\w+", cell)
                name = other[0] if other else column.replace("without categories", "OMBA, no categories")
                found.append(Bar(f"{short}: {name}", float(value[0]), value[0], column == "OMBA"))
    return bars("A hidden product found among ten others (MRR)", found)


def reliability() -> str:
    """Chances of suggestions against how often they came true, from the table of next.md: a line for each question."""
    size, left, bottom = 0.4, 48, 400
    width, colours = WIDTH - 64, ("#00a08a", "#3f7fbf", "#c2703d", "#8b5fbf")

    def at(promised: float, true: float) -> tuple[float, float]:
        return left + width * promised / size, bottom - (bottom - TOP) * true / size

    drawn = [f'<path d="M{left} {TOP}V{bottom}H{left + width}" fill="none" stroke="currentColor" opacity=".4"/>']
    x, y = at(size, size)
    drawn.append(
        f'<path d="M{left} {bottom}L{x:.0f} {y:.0f}" stroke="currentColor" opacity=".4" stroke-dasharray="4"/>'
    )
    for tick in (0.1, 0.2, 0.3, 0.4):
        x, y = at(tick, tick)
        drawn.append(text(x, bottom + 16, f"{tick:g}", ' text-anchor="middle" font-size="11"'))
        drawn.append(text(left - 6, y + 4, f"{tick:g}", ' text-anchor="end" font-size="11"'))
    drawn.append(text(left + width, bottom + 32, "chance promised", ' text-anchor="end" font-size="11"'))
    drawn.append(text(left + 8, TOP + 4, "came true", ' font-size="11"'))
    rows = written("next.md", "| | promised, from the lowest part")
    for place, (row, colour) in enumerate(zip(rows, colours, strict=True)):
        name, promised, true, _ = row.values()
        dots = [at(float(a), float(b)) for a, b in zip(promised.split(), true.split(), strict=True)]
        line = "L".join(f"{x:.0f} {y:.0f}" for x, y in dots)
        drawn.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5" opacity=".7"/>')
        drawn += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="{colour}"/>' for x, y in dots]
        y = bottom - 78 + 20 * place
        drawn.append(f'<circle cx="{left + width - 210}" cy="{y}" r="4" fill="{colour}"/>')
        drawn.append(text(left + width - 200, y + 4, name, ' font-size="12"'))
    return svg("Chances of suggestions, and how often they came true", bottom + 40, drawn)


def claims() -> str:
    """How many of the paper's claims hold here, from the first table of the report."""
    holds = [row["holds"] for row in written("reproduction/report.md", "| | claim | paper | here | holds |")]
    found = [("hold", "yes"), ("hold in part", "partly"), ("do not hold", "no")]
    return bars(
        "Claims of the paper, tested",
        [Bar(name, holds.count(key), str(holds.count(key)), key == "yes") for name, key in found],
    )


def charts() -> dict[str, str]:
    """Every chart by the name of its file."""
    rules, day = "The 1,000 strongest pairs of [^\n]*, ", "One more day after [^\n]*, "
    pairs = {name: printed("benchmarks.md", rules + name) for name in ("product_type", "product_id")}
    days = {name: printed("benchmarks.md", day + name) for name in ("product_type", "product_id")}
    return {
        "hidden": hidden(),
        "reliability": reliability(),
        "claims": claims(),
        "rate-100": rate("100"),
        "rate-300": rate("300"),
        "quality": quality(),
        "rules-types": seconds_of(
            "The 1,000 strongest pairs of product types", pairs["product_type"], "miner", "hold after"
        ),
        "rules-products": seconds_of(
            "The 1,000 strongest pairs of products", pairs["product_id"], "miner", "hold after"
        ),
        "day-types": seconds_of("One more day, product types", days["product_type"], "what"),
        "day-products": seconds_of("One more day, products", days["product_id"], "what"),
        "nearest-pairs": growth(
            "Nearest pairs among so many products", "Nearest pairs among so many products", "products"
        ),
        "rows": growth("A year of so many rows", "A year of so many rows, learned day by day", "rows"),
    }


def main() -> None:
    CHARTS.mkdir(parents=True, exist_ok=True)
    for name, drawing in charts().items():
        (CHARTS / f"{name}.svg").write_text(drawing)
        print(CHARTS / f"{name}.svg")


if __name__ == "__main__":
    main()
