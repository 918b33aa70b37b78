"""Tokens: who may ask and who may add, for a service that others can reach. Only their hashes are kept.

A token is 32 random bytes, so a plain SHA-256 of it cannot be guessed back, and comparing takes the same time whether
it is nearly right or not at all.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from omba.disk import replace
from omba.errors import InputError, SnapshotError, UnknownError
from omba.store import ModelFolder

SCOPES = ("read", "write")
OWNER_ONLY = 0o600
"""The mode of the file: hashes are nobody else's business."""
NAME = 8
"""Letters of a hash that name its token."""


@dataclass(frozen=True)
class Token:
    """What is kept of a token."""

    hash: str
    scopes: tuple[str, ...]
    made: str

    @property
    def name(self) -> str:
        return self.hash[:NAME]


class Tokens:
    """The tokens of a model folder; a change of the file counts from the next request on."""

    def __init__(self, folder: Path) -> None:
        self.file = ModelFolder(folder).tokens_file
        self._stamp: tuple[int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    @property
    def all(self) -> tuple[Token, ...]:
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return ()
        stamp = (found.st_mtime_ns, found.st_ino)
        if stamp != self._stamp:
            self._tokens, self._stamp = self._read(), stamp
        return self._tokens

    def _read(self) -> tuple[Token, ...]:
        try:
            tokens = json.loads(self.file.read_text())
            return tuple(Token(one["hash"], tuple(one["scopes"]), one["made"]) for one in tokens)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SnapshotError(
                f"{str(self.file)!r} cannot be read ({error}): remove it, and make new tokens with 'omba token'"
            ) from error

    def make(self, scopes: Sequence[str]) -> str:
        """A new token with these scopes. It is told this once and never again."""
        wrong = [scope for scope in scopes if scope not in SCOPES]
        if wrong or not scopes:
            raise InputError(f"scope {(wrong or ['none'])[0]!r} is not known: give read, write or both")
        token = secrets.token_urlsafe(32)
        made = Token(digest(token), tuple(dict.fromkeys(scopes)), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        self._write([*self.all, made])
        return token

    def revoke(self, name: str) -> None:
        """Let a token hold no longer."""
        left = [token for token in self.all if token.name != name]
        if len(left) == len(self.all):
            known = ", ".join(token.name for token in self.all) or "none"
            raise UnknownError(f"token {name!r} is not known here: there are {known}")
        self._write(left)

    def allows(self, token: str, scope: str) -> bool:
        """Whether a token is one of these and has the scope."""
        given, allowed = digest(token), False
        for one in self.all:
            # No early end: how long this takes tells nothing.
            allowed |= hmac.compare_digest(given, one.hash) and scope in one.scopes
        return allowed

    def _write(self, tokens: Sequence[Token]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace(self.file, json.dumps([asdict(token) for token in tokens], indent=1).encode(), OWNER_ONLY)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
