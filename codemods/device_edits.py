"""Spots of one function -> splices, each held against the node that stands there.

What is spliced is the name, the literal or the argument itself and nothing around it, so that comments, parentheses
and line ends of the expression stay as they are. What a spot expects and does not find raises Blocked.
"""

from __future__ import annotations

from collections.abc import Callable

from codemods.device_apis import activity_splices, api_splices, backend_map_splices, backend_splices
from codemods.device_assertions import compare_splices, index_splices, is_device_splices
from codemods.device_choices import choice_splices
from codemods.device_literals import (
    move_splices,
    per_rank_splices,
    prefix_splices,
    tensor_type_splices,
    type_splices,
    value_splices,
)
from codemods.device_nodes import whole
from codemods.device_tree import FunctionTree
from codemods.device_values import DeviceValue, Spot
from codemods.edit import SourceFile, Splice


def ask_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``if TEST_CUDA:`` -> ``if self.device_type != "cpu":``."""
    return [whole(file, tree.at(spot.span), spot.new)]


Action = Callable[[SourceFile, FunctionTree, Spot, DeviceValue], list[Splice]]


ACTIONS: dict[str, Action] = {
    "value": value_splices,
    "type": type_splices,
    "compare": compare_splices,
    "prefix": prefix_splices,
    "per_rank": per_rank_splices,
    "index": index_splices,
    "move": move_splices,
    "api": api_splices,
    "ask": ask_splices,
    "choice": choice_splices,
    "is_device": is_device_splices,
    "activity": activity_splices,
    "backend": backend_splices,
    "backend_map": backend_map_splices,
    "tensor_type": tensor_type_splices,
}


def spot_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """The splices of one spot. Raises Blocked."""
    return ACTIONS[spot.action](file, tree, spot, value)
