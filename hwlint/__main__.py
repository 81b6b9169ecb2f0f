"""``python -m hwlint``."""

from hwlint.cli import main

if __name__ == "__main__":
    main()
