"""What becomes of each row is decided once where a file is streamed, unless there are too many of them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from omba.sources import rows, stream_baskets
from omba.sources.check import find_misleading


def shop(folder):
    n = 400
    prices = [2.0 if k % 40 else 900.0 for k in range(n)]
    names = ["RED CUP" if k % 3 else "red cup " for k in range(n)]
    path = folder / "sales.parquet"
    codes = [("85123A", "22423", "84016")[k % 3] if k % 50 else "POST" for k in range(n)]
    pq.write_table(
        pa.table({"basket": [k // 4 for k in range(n)], "product": codes, "price": prices, "name": names}), path
    )
    return str(path)


@pytest.mark.parametrize("few", [0, 5_000_000])
def test_a_stream_is_the_same_whether_the_fate_of_its_rows_is_kept_or_not(tmp_path, monkeypatch, few):
    path = shop(tmp_path)
    with stream_baskets(path) as whole:
        expected = whole.read().to_arrow().to_pydict(), find_misleading(whole), str(whole.report)
    monkeypatch.setattr(rows, "FEW", few)
    with stream_baskets(path) as stream:
        assert bool(stream.engine.execute("FROM duckdb_tables() WHERE table_name = 'decided'")) is bool(few)
        assert (stream.read().to_arrow().to_pydict(), find_misleading(stream), str(stream.report)) == expected


def test_what_is_said_while_learning_is_what_the_check_finds_of_it(tmp_path):
    path = shop(tmp_path)
    with stream_baskets(path) as stream:
        said = find_misleading(stream)
    from omba.sources import check as module

    kinds = {"prices out of line", "two codes", "not a product", "names in conflict", "one name, several codes"}
    assert said == [one for one in module.check(path) if one.kind in kinds]
    assert {one.kind for one in said} >= {"names in conflict", "one name, several codes"}


@pytest.mark.parametrize(("large", "said"), [(399, False), (400, True)])
def test_a_file_of_very_many_rows_is_learned_without_a_look_for_what_is_odd(tmp_path, monkeypatch, capsys, large, said):
    from omba.cli import check

    monkeypatch.setattr(check, "LARGE", large)
    with stream_baskets(shop(tmp_path)) as stream:
        assert stream.n_rows == 400
        check.say_findings(stream)
    told = capsys.readouterr()
    assert ("names in conflict" in told.out + told.err) is said
