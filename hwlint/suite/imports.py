"""Which file of the tree an import names.

PyTorch's test files import one another as scripts do: a name is looked for beside the importing file, then in the
folders above.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.scan.facts import ModuleFacts


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


def needed_imports(facts: ModuleFacts) -> tuple[str, ...]:
    """Modules that may define a base of the module's classes or a class it instantiates: what linking has to look
    at.
    """
    local = {c.name for c in facts.classes}
    imports = dict(facts.imports)
    wanted: dict[str, None] = {}
    unresolved = False
    names = [base for c in facts.classes for base in c.bases]
    names += [imports.get(i.target, i.target) for i in facts.instantiations]
    for name in names:
        if not name or name in local:
            continue
        head, _, _ = name.rpartition(".")
        if head:
            wanted[head] = None
            # ``from package import module`` leaves the class one level deeper than the file.
            wanted.setdefault(head.rpartition(".")[0] or head, None)
        else:
            unresolved = True
    if unresolved:
        wanted.update(dict.fromkeys(facts.star_imports))
    return tuple(wanted)
