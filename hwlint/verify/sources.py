"""Where the file before a change comes from: a git revision, another file, or a folder."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from hwlint.verify.model import VerifyError


def from_revision(path: Path, revision: str, folder: Path) -> Path | None:
    """Extract the folder of ``path`` at a git revision, so that the file finds its neighbours of that time beside it.

    Args:
        path: a file in a git work tree.
        revision: anything that git takes for a commit.
        folder: where to put it.
    Returns:
        The file's path under ``folder``; None if the revision does not have the file.
    Raises:
        VerifyError: there is no git, no repository or no such revision.
    """
    parent = path.resolve().parent
    top = Path(_git(parent, "rev-parse", "--show-toplevel").decode().strip())
    commit = (
        _git(parent, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    )
    relative = path.resolve().relative_to(top.resolve())
    listed = _git(top, "ls-tree", "--name-only", commit, "--", str(relative)).strip()
    if not listed:
        return None
    pathspec = [] if relative.parent == Path(".") else ["--", str(relative.parent)]
    archive = _git(top, "archive", "--format=tar", commit, *pathspec)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        # Python before 3.10.12 has no filters; the archive is git's own.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)
    return folder / relative


def from_path(file: Path, before: Path, only_file: bool) -> Path | None:
    """The file before, for ``--before PATH``: the path itself, or the file of the same name in that folder.

    Returns None if the folder has no such file. Raises VerifyError for a missing path, or one file for several.
    """
    if before.is_dir():
        relative = [] if file.is_absolute() else [before / file]
        return next((path for path in (*relative, before / file.name) if path.is_file()), None)
    if not before.is_file():
        raise VerifyError(f"{before}: no such file or folder")
    if not only_file:
        raise VerifyError("--before names one file; with several files to verify it must be a folder")
    return before


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except OSError as error:
        raise VerifyError(f"git: {error.strerror}") from error
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed in {folder}"
        if arguments[0] == "rev-parse" and "--verify" in arguments:
            message = f"no such revision: {arguments[-1].removesuffix('^{commit}')}"
        raise VerifyError(message)
    return done.stdout
