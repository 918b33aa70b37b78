"""Odd files and odd options by chance, for as long as one likes: each is read, or refused in one sentence."""

import gzip
import os
import sys
import tempfile
from contextlib import contextmanager

from omba.cli import run

ODD = [
    "", "²", "--5", "٣", "9" * 40, "\x1b[2J", "a\nb", "../../etc/passwd", "99999-01-01", "-0001-01-01", "1e999",
    "nan", "-1", "0", "1.5", "1000000", "'", '"', "=1+1", "x" * 3_000,
]  # fmt: skip
"""Values for any place where a value goes."""


def options(model, sales, place):
    """Commands with a place left for an odd value."""
    asked = [
        ["rules", "--top={}"], ["rules", "--min=lift={}"], ["rules", "--min={}=1"], ["rules", "--product={}"],
        ["rules", "--sort={}"], ["rules", "--status={}"], ["rank", "--basket={}"], ["rank", "--basket=p1", "--user={}"],
        ["similar", "--", "{}"], ["explain", "--", "{}", "p1"], ["diff", "--from={}", "--to=2017-01-03"],
        ["next", "--user={}"],
    ]  # fmt: skip
    learned = [["--every={}"], ["--until={}"], ["--history={}"], ["--basket={}"], ["--time={}"], ["--fold={}"]]
    settings = ("--dim={}", "--negatives={}", "--lateness={}")
    return [
        *([one[0], "--model", model, *one[1:]] for one in asked),
        *(["learn", sales, "--model", f"{place}/new", "--dim=8", "--epochs=1", *one] for one in learned),
        *(["learn", sales, "--model", f"{place}/other", one] for one in settings),
        ["check", sales, "--sheet={}"],
    ]


def rows(chance):
    """Lines of sales, some values of which are odd."""
    lines = ["basket_id,timestamp,product,price"]
    for k in range(40):
        values = [str(k // 3), f"2017-01-{1 + k // 10:02d}", f"p{k * k % 9}", "1.5"]
        if chance.random() < 0.1:
            values[chance.randrange(4)] = chance.choice(ODD)
        lines.append(",".join(values))
    return "\n".join(lines)


def damaged(data, chance):
    """Bytes as they were, cut, or with some of them changed."""
    how = chance.randrange(4)
    if how == 1:
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(0 if how == 0 else 5):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def write_odd_file(place, chance):
    """A file of sales that is odd in one way or another."""
    text = rows(chance)
    name, data = chance.choice(
        [
            ("odd.csv", text.encode()),
            ("odd.csv", text.encode("utf-16")),
            ("odd.tsv", text.replace(",", "\t").encode()),
            ("odd.csv.gz", gzip.compress(text.encode())),
            ("odd.csv.zip", text.encode()),
            ("odd.jsonl", b'{"basket_id": 1, "product": "a"}\n{"basket_id": 1, "product": ["b"]}\n' * 9),
            ("odd.parquet", b"PAR1" + text.encode() + b"PAR1"),
            ("odd.xlsx", b"PK\x03\x04" + text.encode()),
            ("odd.basket", text.encode()),
            ("odd", text.encode()),
        ]
    )
    (place / name).write_bytes(damaged(data, chance))
    return str(place / name)


@contextmanager
def captured(file):
    """Have all that is printed go into a file, whoever prints it."""
    saved = [(stream, os.dup(stream.fileno())) for stream in (sys.stdout, sys.stderr)]
    for stream, _ in saved:
        stream.flush()
        os.dup2(file.fileno(), stream.fileno())
    try:
        yield
    finally:
        for stream, number in saved:
            stream.flush()
            os.dup2(number, stream.fileno())
            os.close(number)


def attempt(arguments):
    """Run a command: whether it was done or refused in a sentence; nothing else may come of it."""
    with tempfile.TemporaryFile() as out:
        with captured(out):
            status = run(arguments)
        out.seek(0)
        said = out.read().decode(errors="replace").strip().split("\n")
    assert status in (0, 2), (arguments, status)
    assert not any("Traceback" in line for line in said), arguments
    if status == 2:
        assert any(line.startswith("omba: ") for line in said), (arguments, said[-3:])
    return "done" if status == 0 else "refused in a sentence"
