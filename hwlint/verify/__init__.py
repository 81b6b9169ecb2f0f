"""``hwlint verify``: runs test files before and after a change with real torch, and compares what became of each test.

The one part of hwlint that runs the code it looks at. Nothing else in hwlint imports this package.
"""
