"""Tokens: who may ask and who may add, for a service that others can reach. Only their hashes are kept.

A token is 32 random bytes, so a plain SHA-256 of it cannot be guessed back, and comparing takes the same time whether
it is nearly right or not at all. The file is changed under a lock and never through a link, so that tokens made at once
all hold and nothing is written elsewhere.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from omba.baskets import Clock
from omba.disk import make_private, replace
from omba.errors import InputError, SnapshotError, StoreError, UnknownError
from omba.store import ModelFolder

SCOPES = ("read", "write")
OWNER_ONLY = 0o600
"""The mode of the file: hashes are nobody else's business."""
LETTERS = 8
"""Letters of a hash that name a token without a name."""
WRITTEN = 60.0
"""Seconds between two times that the last uses of tokens are written down."""
STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Token:
    """What is kept of a token."""

    hash: str
    scopes: tuple[str, ...]
    made: str
    called: str | None = None
    expires: str | None = None

    @property
    def name(self) -> str:
        return self.called or self.hash[:LETTERS]

    @property
    def holds(self) -> bool:
        """Whether its end has not come."""
        return self.expires is None or datetime.now(UTC) < datetime.fromisoformat(self.expires)


class Tokens:
    """The tokens of a model folder; a change of the file counts from the next request on."""

    def __init__(self, folder: Path) -> None:
        self.file = ModelFolder(folder).tokens_file
        self._stamp: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()
        self._uses: dict[str, str] = {}
        self._written = -WRITTEN

    @property
    def all(self) -> tuple[Token, ...]:
        try:
            found = self.file.lstat()
        except FileNotFoundError:
            return ()
        stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
        if stamp != self._stamp:
            self._tokens, self._stamp = self._read(), stamp
        return self._tokens

    def _read(self) -> tuple[Token, ...]:
        try:
            if self.file.is_symlink():
                raise ValueError("it is a symbolic link")
            return tuple(read_token(one) for one in json.loads(self.file.read_text()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SnapshotError(
                f"{str(self.file)!r} cannot be read ({error}): remove it, and make new tokens with 'omba token'"
            ) from error

    def make(self, scopes: Sequence[str], name: str | None = None, expires: str | None = None) -> str:
        """A new token with these scopes, which may have a name and an end. It is told this once and never again."""
        wrong = [scope for scope in scopes if scope not in SCOPES]
        if wrong or not scopes:
            raise InputError(f"scope {(wrong or ['none'])[0]!r} is not known: give read, write or both")
        if name is not None and not (0 < len(name) <= 60 and name.isprintable()):
            raise InputError(f"{name[:60]!r} is no name for a token: give one line of up to 60 letters")
        token = secrets.token_urlsafe(32)
        end = None if expires is None else read_end(expires)
        made = Token(digest(token), tuple(dict.fromkeys(scopes)), f"{datetime.now(UTC):{STAMP}}", name, end)
        with self._lock():
            if any(one.name == made.name for one in self.all):
                raise InputError(f"a token {made.name!r} is there already: revoke it first, or give another name")
            self._write([*self.all, made])
        return token

    def revoke(self, name: str) -> None:
        """Let a token hold no longer."""
        with self._lock():
            left = [token for token in self.all if token.name != name]
            if len(left) == len(self.all):
                known = ", ".join(token.name for token in self.all) or "none"
                raise UnknownError(f"token {name!r} is not known here: there are {known}")
            self._write(left)

    def allows(self, token: str, scope: str) -> bool:
        """Whether a token is one of these and has the scope."""
        given, allowed = digest(token), None
        for one in self.all:
            # No early end: how long this takes tells nothing.
            if hmac.compare_digest(given, one.hash) and scope in one.scopes and one.holds:
                allowed = one
        if allowed is None:
            return False
        self._note_use(allowed)
        return True

    def last_uses(self) -> dict[str, str]:
        """When each token was used last, by its hash, to the minute; those never used are not in it."""
        try:
            found = json.loads(self._uses_file.read_text())
            return {str(name): str(when) for name, when in found.items()}
        except (OSError, ValueError, AttributeError, RecursionError):
            return {}

    @property
    def _uses_file(self) -> Path:
        return self.file.with_name("tokens-used.json")

    def _note_use(self, token: Token) -> None:
        first = token.hash not in self._uses
        if not first and monotonic() - self._written < WRITTEN:
            return
        self._uses[token.hash] = f"{datetime.now(UTC):{STAMP}}"
        self._written = monotonic()
        # To ask must not fail where it cannot be written down.
        with suppress(OSError):
            replace(self._uses_file, json.dumps(self.last_uses() | self._uses, indent=1).encode(), OWNER_ONLY)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """One change at a time, also between processes."""
        try:
            make_private(self.file.parent)
            handle = os.open(self.file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError(
                f"tokens cannot be kept in {str(self.file.parent)!r} ({error.strerror}): give another folder"
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _write(self, tokens: Sequence[Token]) -> None:
        replace(self.file, json.dumps([asdict(token) for token in tokens], indent=1).encode(), OWNER_ONLY)


def read_token(kept: dict[str, object]) -> Token:
    """A token as it stands in the file; a name and an end came with a later version."""
    texts = [kept["hash"], kept["made"], *(kept.get(name) or "" for name in ("called", "expires"))]
    scopes = kept["scopes"]
    if not all(isinstance(text, str) for text in texts) or not isinstance(scopes, list):
        raise ValueError("a token in it is no token")
    hash, made, called, expires = map(str, texts)
    if expires:
        datetime.fromisoformat(expires)
    return Token(hash, tuple(map(str, scopes)), made, called or None, expires or None)


def read_end(expires: str) -> str:
    """The end of a token: a date, or a span from now on such as '90d'."""
    now = datetime.now(UTC)
    span = re.fullmatch(r"([0-9]{1,6})([hd])", expires.strip())
    if span:
        end = now + timedelta(hours=int(span[1]) * (24 if span[2] == "d" else 1)) if int(span[1]) < 40_000 else now
    else:
        shown = Clock.DATETIME.show(Clock.DATETIME.read(expires))
        assert isinstance(shown, datetime)
        end = shown.replace(tzinfo=UTC)
    if end <= now:
        raise InputError(f"--expires {expires!r} is past, or no span of time: write it as '90d' or '2030-01-01'")
    return f"{end:{STAMP}}"


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
