"""What is the file's fault and what is not: only the first refuses a file."""

from __future__ import annotations

import errno
import re

from app.errors import Conflict

PASSING = {
    errno.ENOSPC: "there was no room on the disk to read the file",
    errno.EDQUOT: "there was no room on the disk to read the file",
    errno.EIO: "the disk failed while the file was read",
    errno.EREMOTEIO: "the store failed while the file was read",
    errno.ENOENT: "the file was not to be found when it was read",
    errno.EMFILE: "too many files were open to read the file",
    errno.ENFILE: "too many files were open to read the file",
}
"""What the machine may say while any file is read, and the sentence for it."""

DAMAGED = (
    "what the service stored of the dataset is damaged and cannot be read; upload it again, or "
    "have its files restored"
)
MISSING = (
    "what the service stored of the dataset is not there any more; upload it again, or have its "
    "files restored"
)

NO_ROOM = PASSING[errno.ENOSPC]
# How polars and pyarrow pass on what the system said.
OS_ERROR = re.compile(r"\((?:os error|errno) (\d+)\)|\[errno (\d+)\]", re.IGNORECASE)
# The last words of Rust, C++, Python and the loader when memory ran out; "alloc" alone is none.
OUT_OF_MEMORY = re.compile(
    r"memory allocation of \d+ bytes failed|std::bad_alloc|MemoryError|Cannot allocate memory"
    r"|failed to map segment|malloc of size \d+ failed|failed to spawn thread"
)


class Rejected(Exception):
    """The file cannot be used; the message is the reason, a sentence for its owner."""


class Damaged(Conflict):
    """The service's own file is not what was written; no attempt will find it otherwise."""

    code = "dataset_damaged"


class Passing(Exception):
    """Reading failed by something that the bytes did not cause; another attempt may succeed."""


def system_error(error: BaseException) -> int | None:
    """The number of the system's error behind an error, if there is one."""
    number = getattr(error, "errno", None)
    if isinstance(number, int):
        return number
    found = OS_ERROR.search(str(error))
    return int(found[1] or found[2]) if found else None


def printable(reason: str) -> str:
    """A sentence that every database takes and every page shows."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in reason)
