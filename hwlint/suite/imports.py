"""Which file of the tree an import names.

PyTorch's test files import one another as scripts do: a name is looked for beside the importing file, then in the
folders above.
"""

from __future__ import annotations

from collections.abc import Iterator


def candidate_paths(module: str, importer: str) -> Iterator[str]:
    """Paths, relative to the root, at which ``module`` may stand for the file ``importer``; likeliest first."""
    if not module or module.startswith("."):
        return
    tail = module.replace(".", "/")
    folder = importer.rpartition("/")[0]
    while True:
        prefix = f"{folder}/" if folder else ""
        yield f"{prefix}{tail}.py"
        yield f"{prefix}{tail}/__init__.py"
        if not folder:
            return
        folder = folder.rpartition("/")[0]
