"""What goes wrong between a run and its cluster. Loads no Dask."""

from __future__ import annotations


class ClusterAway(OSError):
    """The scheduler, or the store where the workers read, does not answer; another attempt may."""


class ColumnsOutOfReach(OSError):
    """The workers of the cluster look for the dataset where it is not."""


class BlockTooLarge(MemoryError):
    """Whichever worker gets a certain block dies; that is no accident any more."""
