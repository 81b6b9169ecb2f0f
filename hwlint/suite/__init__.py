"""Classes linked across files, and the tests that PyTorch's loader makes of them."""

from hwlint.suite.link import link
from hwlint.suite.model import Base, InheritedTest, LinkedClass, Suite

__all__ = ["Base", "InheritedTest", "LinkedClass", "Suite", "link"]
