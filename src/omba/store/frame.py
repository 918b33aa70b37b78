"""Frame: what is written to the journal in one go, whole or not at all, and the segments that frames lie in.

magic · length · number of the first basket · baskets · repeated so far · checksum │ keys of the ids │ lines of JSON
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

START = b"omba journal 1\n\n"
MAGIC = b"OMBA"
HEAD = struct.Struct("<4sIQIQ")
CHECK = struct.Struct("<I")
SYNCED = struct.Struct("<QQQQ")
NAME = re.compile(r"segment-(\d{20})")
"""The name of a segment; whatever else lies in the folder, such as a copy that a person has made, is not looked at."""


@dataclass(frozen=True)
class JournalFrame:
    """What was written in one go: `count` baskets from number `first` on, and the writer's state after them."""

    first: int
    count: int
    repeated: int
    payload: bytes
    stop: int
    """Where it ends in its segment."""

    @property
    def after(self) -> int:
        """The number of the next basket."""
        return self.first + self.count

    @property
    def keys(self) -> list[int]:
        return [int(key) for key in np.frombuffer(self.payload, "<u8", self.count)]

    @property
    def lines(self) -> list[bytes]:
        """A line a basket, and the state."""
        return self.payload[8 * self.count :].split(b"\n")


@dataclass(frozen=True)
class Synced:
    """How far the journal is on the disk: bytes of its last segment, and baskets in all."""

    segment: int
    offset: int
    end: int
    repeated: int

    @classmethod
    def read(cls, folder: Path) -> Synced | None:
        """What the writer tells; None where there is no journal yet."""
        try:
            data = (folder / "synced").read_bytes()
        except FileNotFoundError:
            return None
        body, check = data[: SYNCED.size], data[SYNCED.size :]
        # A reader may come in the middle of a write, and looks again later.
        return cls(*SYNCED.unpack(body)) if check == CHECK.pack(zlib.crc32(body)) else None

    def pack(self) -> bytes:
        body = SYNCED.pack(self.segment, self.offset, self.end, self.repeated)
        return body + CHECK.pack(zlib.crc32(body))


def encode(first: int, keys: Sequence[int], baskets: Sequence[bytes], state: bytes, repeated: int) -> bytes:
    """A frame."""
    payload = np.array(keys, "<u8").tobytes() + b"\n".join([*baskets, state])
    head = HEAD.pack(MAGIC, len(payload), first, len(keys), repeated)
    return head + CHECK.pack(zlib.crc32(payload, zlib.crc32(head))) + payload


def decode(data: bytes | memoryview, offset: int) -> JournalFrame | None:
    """The frame that begins at an offset, or None where there is no whole one."""
    begin = offset + HEAD.size + CHECK.size
    if len(data) < begin:
        return None
    magic, length, first, count, repeated = HEAD.unpack_from(data, offset)
    if magic != MAGIC or len(data) < begin + length or 8 * count > length:
        return None
    payload = bytes(data[begin : begin + length])
    check = zlib.crc32(payload, zlib.crc32(data[offset : offset + HEAD.size]))
    if CHECK.unpack_from(data, offset + HEAD.size) != (check,):
        return None
    return JournalFrame(first, count, repeated, payload, begin + length)


def frames(data: bytes, first: int) -> Iterator[JournalFrame]:
    """The whole frames of a segment, as far as they follow on each other."""
    offset = len(START)
    while (frame := decode(data, offset)) and frame.first == first:
        yield frame
        offset, first = frame.stop, frame.after


def segments(folder: Path) -> list[int]:
    """The first basket of each segment, in order."""
    names = (NAME.fullmatch(file.name) for file in folder.glob("segment-*"))
    return sorted(int(name[1]) for name in names if name)


def segment(folder: Path, first: int) -> Path:
    """The file of the segment that begins with a basket."""
    return folder / f"segment-{first:020d}"
