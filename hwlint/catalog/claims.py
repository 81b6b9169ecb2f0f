"""What shows that code is about one vendor's device: words, and members of its classes (claims.toml)."""

from __future__ import annotations

import functools
import re

from hwlint.catalog.tables import read


@functools.cache
def claim() -> re.Pattern[str]:
    """What a name or a text of a test holds that says something about one vendor's device."""
    whole = "|".join(_words("whole_words"))
    any_case = "|".join((rf"(?:^|[^a-z])(?:is_?)?(?:{whole})(?:$|[^a-z])", *_words("words")))
    return re.compile(f"{'|'.join(_words('class_names'))}|(?i:{any_case})")


@functools.cache
def class_claim() -> re.Pattern[str]:
    """What the name of a class of one vendor's starts with."""
    return re.compile("|".join(_words("class_names")))


def vendor_device(class_name: str) -> str:
    """The device type of a class whose name ``class_claim`` matches: 'cuda' of CUDACodeCache."""
    return re.split("(?<=[A-Za-z])(?=[A-Z][a-z])", class_name, maxsplit=1)[0].lower()


@functools.cache
def profiled_claim() -> re.Pattern[str]:
    """What a text in an assertion of a test that profiles holds, where it is an event of one vendor's runtime."""
    return re.compile("|".join(_words("profiled")), re.IGNORECASE)


@functools.cache
def gate_claim() -> re.Pattern[str]:
    """What the condition of a gate that is not understood holds, where it asks for something of one vendor's."""
    return re.compile("|".join(_words("gate_words")), re.IGNORECASE)


@functools.cache
def comment_claim() -> re.Pattern[str]:
    """What a comment holds that says why a test is kept to one vendor's device."""
    return re.compile("|".join(_words("comments")), re.IGNORECASE)


@functools.cache
def helper_keywords() -> frozenset[str]:
    """Keyword arguments that say nothing about a device where the callee is no function of torch."""
    return frozenset(_words("helper_keywords"))


@functools.cache
def registrations() -> tuple[str, ...]:
    """Functions, by the end of their dotted names, whose default is to register something for the CPU and CUDA."""
    return _words("registrations")


@functools.cache
def vendor_members() -> frozenset[str]:
    """Members that only one vendor's streams, events, graphs and tensors have."""
    return frozenset(_words("members"))


def _words(key: str) -> tuple[str, ...]:
    return tuple(str(read("claims")[key]).split())
