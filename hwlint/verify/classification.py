"""``--hw-classification`` for real: what torch's filter selects, against what the text of the file says."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from hwlint.verify.model import Run


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """One label: how many tests torch selects, and the IDs on which torch and the static model disagree."""

    file: str
    device: str
    label: str
    selected: int
    not_selected: tuple[str, ...]
    not_expected: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return not self.not_selected and not self.not_expected


def check_labels(run: Run, static: Mapping[str, str | None]) -> tuple[LabelCheck, ...]:
    """Compare, for each label that selects or should select something.

    Args:
        run: a run that recorded selections.
        static: template class -> label or None, as a static model has it. A class it does not know counts as
        unlabelled.
    """
    checks = []
    for label, selected in run.selected.items():
        expected = {test.id for test in run.tests if static.get(test.template_class) == label}
        if selected or expected:
            checks.append(
                LabelCheck(
                    run.file,
                    run.device,
                    label,
                    len(selected),
                    tuple(sorted(expected - selected)),
                    tuple(sorted(selected - expected)),
                )  # fmt: skip
            )
    return tuple(checks)


def static_labels(source: str) -> dict[str, str | None]:
    """Template class -> label by the text alone: the class's own ``hw_classification``, else that of its bases in the
    file.

    Raises SyntaxError.
    """
    classes = {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)}
    return {name: _label(name, classes, frozenset()) for name in classes}


def defined_templates(source: str) -> frozenset[tuple[str, str]]:
    """The (class, test method) pairs that a file defines in its text. Raises SyntaxError."""
    return frozenset(
        (node.name, item.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name.startswith("test")
    )


def _label(name: str, classes: Mapping[str, ast.ClassDef], seen: frozenset[str]) -> str | None:
    if name not in classes or name in seen:
        return None
    for statement in classes[name].body:
        targets = statement.targets if isinstance(statement, ast.Assign) else (
            [statement.target] if isinstance(statement, ast.AnnAssign) else []
        )  # fmt: skip
        if any(isinstance(target, ast.Name) and target.id == "hw_classification" for target in targets):
            value = statement.value  # type: ignore[attr-defined]
            return value.attr if isinstance(value, ast.Attribute) else None
    for base in classes[name].bases:
        if isinstance(base, ast.Name):
            label = _label(base.id, classes, seen | {name})
            if label is not None:
                return label
    return None
