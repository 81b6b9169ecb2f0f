"""Writing a file so that it is whole at any moment: the old one or the new one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the content of ``path``, keeping its mode; of a symbolic link, that of its target. Raises OSError."""
    import tempfile  # Brings half a dozen modules along, and most runs write nothing.

    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode & 0o7777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    prefix = f".{target.name[:40]}."  # A name may be as long as the file system allows.
    handle, temporary = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
