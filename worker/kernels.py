"""The program that compiles what jobs will need, beside the one that runs them, and then ends.

It begins where a first job will be last: the process that runs jobs compiles from the front, and
both keep what they compile in the same cache.
"""

from __future__ import annotations

import os

from core.warm import warm_kernels, warm_search

# Nobody waits for what a default job does not need.
LOWEST_PRIORITY = 19


def main() -> None:
    """Compile what a default job needs last, then everything else."""
    warm_search()
    os.nice(LOWEST_PRIORITY)
    warm_kernels()


if __name__ == "__main__":
    main()
