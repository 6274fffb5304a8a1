"""What one upload may cost and contain, and what is said when it costs more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one upload may cost and contain."""

    memory_bytes: int
    scratch_bytes: int
    seconds: int
    max_rows: int
    max_columns: int
    max_name_length: int
    max_cell_bytes: int

    @property
    def max_header_bytes(self) -> int:
        """The longest line of names there can be, in UTF-16 or any other encoding."""
        return self.max_columns * (4 * self.max_name_length + 4)

    @property
    def out_of_memory(self) -> str:
        """The reason when reading took more memory than it may."""
        return f"reading the file takes more than the {self.memory_bytes / 2**30:.3g} GiB allowed"

    @property
    def out_of_room(self) -> str:
        """The reason when reading wrote more to the disk than it may."""
        return f"reading the file takes more than the {self.scratch_bytes / 2**30:.3g} GiB of disk"

    @property
    def out_of_time(self) -> str:
        """The reason when reading took longer than it may."""
        return f"reading the file takes longer than the {self.seconds} seconds allowed"
