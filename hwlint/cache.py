"""What earlier runs found out: facts by file, results by run, in one SQLite file.

A cache is never a reason for a run to fail. What is corrupt is thrown away, and where nothing can be written, nothing
is.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import hwlint

if TYPE_CHECKING:
    import sqlite3

SCHEMA = 1
KEEP_SECONDS = 30 * 24 * 3600
KEEP_RESULTS = 50_000_000
"""Bytes."""


class Cache:
    """A store of bytes by key, in tables 'facts' and 'results'. Made by :meth:`open`; ``Cache()`` holds nothing."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._file: Path | None = None
        self._used: list[tuple[int, bytes]] = []
        self._written = False

    @classmethod
    def open(cls, folder: Path) -> Cache:
        """The cache in ``folder``, made where it is not there; one that holds nothing where that cannot be."""
        cache = cls()
        try:
            import sqlite3  # Some builds of Python come without.

            if not folder.is_dir():
                folder.mkdir(parents=True)
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            cache._file = folder / f"hwlint-{SCHEMA}.sqlite3"
            cache._connection = sqlite3.connect(cache._file, timeout=0.5, isolation_level=None)
            cache._prepare()
        except (ImportError, OSError):
            cache._connection = None
        except Exception as error:
            cache._failed(error)
        return cache

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def get(self, table: str, key: bytes) -> bytes | None:
        """What was stored, None where nothing was or where it is not what was stored."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute(f"SELECT used, data FROM {table} WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            used, data = row
            check, content = data[:4], data[4:]
            if zlib.crc32(content).to_bytes(4, "big") != check:
                return None
        except Exception as error:
            self._failed(error)
            return None
        if table == "facts" and used < time.time() - KEEP_SECONDS / 10:
            self._used.append((int(time.time()), key))
        return bytes(content)

    def put(self, table: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store keys with their content."""
        if self._connection is None:
            return
        now = int(time.time())
        rows = [(key, now, zlib.crc32(data).to_bytes(4, "big") + data) for key, data in items]
        if not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(f"INSERT OR REPLACE INTO {table} (key, used, data) VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")
            self._written = True
        except Exception as error:
            self._failed(error)

    def close(self) -> None:
        """Forget what was not used for a month, and let go of the file."""
        if self._connection is None:
            return
        try:
            if self._used:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("UPDATE facts SET used = ? WHERE key = ?", self._used)
                self._connection.execute("COMMIT")
            if self._written:
                self._connection.execute("DELETE FROM facts WHERE used < ?", (int(time.time()) - KEEP_SECONDS,))
                # The newest results, as far as they fit: one of a large tree takes a few megabytes.
                self._connection.execute(
                    "DELETE FROM results WHERE key IN (SELECT key FROM (SELECT key, SUM(LENGTH(data)) OVER"
                    " (ORDER BY used DESC, rowid DESC) AS total FROM results) WHERE total > ?)",
                    (KEEP_RESULTS,),
                )
            self._connection.close()
        except Exception as error:
            self._failed(error)
        self._connection = None

    def _prepare(self) -> None:
        assert self._connection is not None
        # Speed over safety: what a crash leaves behind is noticed and thrown away.
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("PRAGMA journal_mode = MEMORY")
        for table in ("facts", "results"):
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL)"
            )

    def _failed(self, error: Exception) -> None:
        """Go on without a cache; a file that is no database, or a broken one, is taken away for the next run."""
        import sqlite3

        if self._connection is not None:
            try:
                self._connection.close()
            except sqlite3.Error:
                pass
            self._connection = None
        # Locked, full, read-only are OperationalErrors, and pass.
        broken = isinstance(error, (sqlite3.DatabaseError, TypeError)) and not isinstance(
            error, sqlite3.OperationalError
        )
        if broken and self._file is not None:
            try:
                self._file.unlink()
            except OSError:
                pass


def digest(data: bytes) -> str:
    """Names a content."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def key(*parts: object) -> bytes:
    """A key made of parts, each told from the next."""
    text = "\0".join(repr(part) for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=20).digest()


@functools.cache
def code_digest(*packages: str) -> str:
    """Names the state of hwlint itself, of ``packages`` below it where given, the Python version included.

    From the files' contents: between two releases the version number stands still while the rules change.
    """
    here = Path(hwlint.__file__).parent
    hashed = hashlib.blake2b(f"{hwlint.__version__} {sys.version}".encode(), digest_size=20)
    try:
        for folder in [here / p for p in packages] or [here]:
            for file in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".toml")):
                hashed.update(file.name.encode() + b"\0" + file.read_bytes())
    except OSError:  # Installed in a zip file, say: the version has to do.
        pass
    return hashed.hexdigest()
