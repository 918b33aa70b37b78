"""A snapshot's arrays are read while their checksum is worked out; what was changed is refused all the same."""

from __future__ import annotations

import pytest

import omba
from omba.errors import SnapshotError
from omba.model import snapshot


def test_arrays_that_can_be_read_but_were_changed_are_refused_as_damaged(tmp_path):
    omba.OMBA(dim=8, epochs=1).fit([["pasta", "sauce"]] * 50).save(tmp_path)
    assert omba.OMBA.load(tmp_path).n_baskets == 50
    (file,) = tmp_path.glob(f"snapshot-*/{snapshot.ARRAYS}")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(SnapshotError, match=r"is damaged: arrays\.safetensors is cut off or was changed"):
        omba.OMBA.load(tmp_path)


def test_arrays_that_cannot_be_read_are_told_as_damaged_not_as_unreadable(tmp_path):
    omba.OMBA(dim=8, epochs=1).fit([["pasta", "sauce"]] * 50).save(tmp_path)
    (file,) = tmp_path.glob(f"snapshot-*/{snapshot.ARRAYS}")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(SnapshotError, match="is damaged"):
        omba.OMBA.load(tmp_path)
