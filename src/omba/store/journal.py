"""Journal: baskets on the disk before anyone is told that they are safe, until a snapshot has learned them.

It is a folder of segments, each named by the number of its first basket. A segment is a row of frames, a frame is what
was written and synced in one go, whole or not at all:

    magic · length · number of the first basket · baskets · repeated so far · checksum │ keys of the ids │ lines of JSON

The first lines are the baskets, the last one is the state of who wrote them: how far sources were read, how far time
has moved on. Whatever a crash leaves of a last frame was never acknowledged, and is cut off on start; a broken frame
before a whole one is damage, and said so. The file `synced` tells readers in other processes how far they may read.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from omba.disk import step, sync, write_all
from omba.errors import StoreError
from omba.store import gaps
from omba.store.frame import CHECK, HEAD, START, JournalFrame, Synced, decode, encode, frames, segment, segments
from omba.store.ids import Ids
from omba.store.lock import Lock
from omba.store.loss import Extent, Loss, damage, refuse_damage, refuse_losses, remedy

log = logging.getLogger("omba")

datasync = getattr(os, "fdatasync", os.fsync)
SEGMENT_BYTES = 64 << 20
SEGMENT_BASKETS = 1 << 17
"""A segment is sealed when it has grown to either."""


def forget(folder: Path, before: int) -> None:
    """Delete the sealed segments whose baskets all come before the given one: a snapshot has learned them."""
    firsts = segments(folder)
    for first, after in pairwise(firsts):
        if after <= before:
            segment(folder, first).unlink(missing_ok=True)
            step("segment deleted")


class Journal:
    """The writing end, one a folder and used by one thread at a time.

    Parameters
    ----------
    folder
        Where it lies. If baskets are missing that it once held and that are still needed, it is not opened.
    extent
        What the snapshot needs of it; all that is there unless given. Where the folder is empty, baskets are numbered
        from its `next` on.
    remembered
        How many ids are remembered at least; a million unless given.
    """

    def __init__(self, folder: Path, extent: Extent | None = None, remembered: int | None = None) -> None:
        self.folder = folder
        self.lock = Lock(folder, "takes in baskets for")
        self.ids = Ids(folder) if remembered is None else Ids(folder, remembered)
        self.first = self.end = self.size = self.repeated = 0
        self.handle = self.pointer = -1
        self.broken = False
        self.state = b""
        """What the writer last said of itself; nothing where no frame is left."""
        try:
            refuse_losses(folder, extent)
            self._open(extent.next if extent else 0)
        except OSError as error:
            self.lock.release()
            raise StoreError(
                f"the journal in {str(folder)!r} cannot be opened ({error.strerror}): give a folder with room that can "
                "be written to"
            ) from error
        except BaseException:
            self.lock.release()
            raise

    def append(self, keys: Sequence[int], baskets: Sequence[bytes], state: bytes = b"", repeated: int = 0) -> int:
        """Write one frame and sync it; the number of its first basket. On an error nothing of it stays.

        `keys` are those of the baskets' ids. `repeated` tells how many more were left out, having come before.
        """
        data = encode(self.end, keys, baskets, state, self.repeated + repeated)
        try:
            self._mend()
            self.broken = True
            write_all(self.handle, data)
            step("frame written")
            datasync(self.handle)
            self.broken = False
        except OSError as error:
            raise StoreError(
                f"the journal in {str(self.folder)!r} could not be written ({error.strerror}): nothing of what came "
                "was taken in; make room there, and send it again"
            ) from error
        step("frame synced")
        first, self.end, self.size = self.end, self.end + len(keys), self.size + len(data)
        self.repeated, self.state = self.repeated + repeated, state
        self.ids.add(keys)
        self._tell()
        if self.size >= SEGMENT_BYTES or self.end - self.first >= SEGMENT_BASKETS:
            self._turn()
        return first

    def repeat(self, count: int) -> None:
        """Count baskets that had come before; nothing has to be written for them."""
        self.repeated += count
        self._tell()

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            os.close(self.pointer)
            self.handle = self.pointer = -1
        self.lock.release()

    def _open(self, first: int) -> None:
        self.ids.load()
        firsts = segments(self.folder) or [first]
        self.first = self.end = firsts[-1]
        self.repeated = synced.repeated if (synced := Synced.read(self.folder)) else 0
        self.handle = self._segment(self.first)
        self._recover()
        if not self.state and len(firsts) > 1:
            # The segment has just been begun; what the writer last said is at the end of the one before, unless the
            # model knows more, since that is an old copy.
            for frame in frames(segment(self.folder, firsts[-2]).read_bytes(), firsts[-2]):
                self.state = frame.lines[-1] if frame.after >= min(first, self.first) else b""
        self.pointer = os.open(self.folder / "synced", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._tell()
        sync(self.folder)

    def _segment(self, first: int) -> int:
        """The segment, open to be appended to; made if it is not there."""
        file = segment(self.folder, first)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if os.fstat(handle).st_size < len(START):
            os.ftruncate(handle, 0)
            write_all(handle, START)
            os.fsync(handle)
            sync(self.folder)
        step("segment made")
        return handle

    def _recover(self) -> None:
        """Read the active segment, and cut off what a crash has left at its end."""
        data = segment(self.folder, self.first).read_bytes()
        self.size = len(START)
        for frame in frames(data, self.first):
            self.end, self.size, self.repeated, self.state = frame.after, frame.stop, frame.repeated, frame.lines[-1]
            self.ids.add(frame.keys)
        if self.size < len(data):
            refuse_damage(self.folder, self.first, data, self.size)
            self._refuse_cut()
            log.warning(
                "the journal in %r ended in a broken frame: its %d bytes were never acknowledged and are cut off",
                str(self.folder),
                len(data) - self.size,
            )
            os.ftruncate(self.handle, self.size)
        os.fsync(self.handle)
        step("tail cut")
        os.lseek(self.handle, self.size, os.SEEK_SET)

    def _refuse_cut(self) -> None:
        """Raise if the frame that is broken was whole once, and acknowledged: then no crash has left it so."""
        synced = Synced.read(self.folder)
        if synced is not None and synced.end > self.end:
            loss = Loss(self.end, synced.end, f"{segment(self.folder, self.first).name!r} is damaged where they were")
            raise StoreError(f"in {str(self.folder)!r} {loss}; {remedy(self.folder)}")

    def _mend(self) -> None:
        """After a write that failed, take back what it left, so that the next frame follows on the last whole one."""
        if self.broken:
            os.ftruncate(self.handle, self.size)
            os.lseek(self.handle, self.size, os.SEEK_SET)
            os.fsync(self.handle)
            self.broken = False

    def _tell(self) -> None:
        """Let readers know how far they may read; should that fail, they get to know with the next frame."""
        with suppress(OSError):
            os.pwrite(self.pointer, Synced(self.first, self.size, self.end, self.repeated).pack(), 0)

    def _turn(self) -> None:
        """Seal the segment and go on in a new one; where there is no room for that, go on in the old one."""
        try:
            self.ids.keep(self.first, self.ids.active)
            step("ids kept")
            handle = self._segment(self.end)
        except OSError as error:
            log.warning("the journal in %r goes on in one file for now (%s)", str(self.folder), error.strerror)
            return
        os.close(self.handle)
        self.handle, self.first, self.size = handle, self.end, len(START)
        self.ids.turn()
        self._tell()


class Tail:
    """The reading end, from basket `number` on: in this process or another, as far as the journal is synced."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number
        self.segment = -1
        self.offset = len(START)
        self.gaps = gaps.read(folder)

    def read(self, most: int = 1 << 20) -> list[JournalFrame]:
        """The next frames, of about so many bytes; none where there is nothing new."""
        synced = Synced.read(self.folder)
        if synced is None:
            return []
        if self.segment < 0:
            self._find(synced)
        stop = None if self.segment < synced.segment else synced.offset
        data = self._bytes(most, stop)
        if not data and self.segment < synced.segment:
            self.segment, self.offset = self._next(), len(START)
            self._reach(self.segment)
            return self.read(most)
        return self._whole(data)

    @property
    def ended(self) -> bool:
        """Whether all that is synced has been read."""
        synced = Synced.read(self.folder)
        return synced is None or self.number >= synced.end

    def _bytes(self, most: int, stop: int | None) -> bytes:
        """What comes next in the segment: at least a frame, if there is one."""
        with segment(self.folder, self.segment).open("rb") as stream:
            stream.seek(self.offset)
            head = stream.read(HEAD.size + CHECK.size)
            if len(head) == HEAD.size + CHECK.size:
                most = max(most, HEAD.unpack_from(head)[1] - len(head))
            if stop is not None:
                most = min(most + len(head), stop - self.offset) - len(head)
            return head + stream.read(most) if most > 0 or stop is None else b""

    def _whole(self, data: bytes) -> list[JournalFrame]:
        found, offset = [], 0
        while offset < len(data) and (frame := decode(data, offset)):
            if frame.after > self.number or not frame.count:
                found.append(frame)
                self._reach(frame.first)
                self.number = max(self.number, frame.after)
            offset = frame.stop
        if data and not offset:
            raise damage(self.folder, self.segment, self.offset)
        self.offset += offset
        return found

    def _reach(self, first: int) -> None:
        """Go on at a basket: it is the next one, unless a person has said to go on without those before it."""
        if first <= self.number:
            return
        if gaps.skip(self.gaps, self.number) < first:
            loss = Loss(self.number, first, f"{segment(self.folder, self.segment).name!r} goes on after them")
            raise StoreError(f"in {str(self.folder)!r} {loss}; {remedy(self.folder)}")
        self.number = first

    def _find(self, synced: Synced) -> None:
        number = self.number
        if not any(first <= number for first in segments(self.folder)):
            number = gaps.skip(self.gaps, number)
        firsts = [first for first in segments(self.folder) if first <= number]
        if not firsts or self.number > synced.end:
            raise StoreError(
                f"the journal in {str(self.folder)!r} does not hold basket {self.number:,}, from which on the model is "
                f"to learn: {remedy(self.folder)}"
            )
        self.number, self.segment = number, firsts[-1]

    def _next(self) -> int:
        return min(first for first in segments(self.folder) if first > self.segment)
