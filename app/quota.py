"""How much one tenant may have."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import TooMany

# A queue moves on by itself; room comes when the tenant deletes something or retention does.
QUEUE_SECONDS = 10
ROOM_SECONDS = 60
NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Quota:
    """Upper limits; what is counted and added must be locked in between."""

    n_bytes: int = NO_LIMIT
    n_datasets: int = NO_LIMIT
    n_queued_jobs: int = NO_LIMIT
    n_webhooks: int = NO_LIMIT

    def room_for(self, n_new_bytes: int, n_datasets: int, n_bytes: int) -> int:
        """The bytes that are left for one dataset more, or TooMany if it has more than those."""
        if n_datasets >= self.n_datasets:
            detail = f"the limit of {self.n_datasets} datasets is reached; delete one first"
            raise TooMany(detail, code="too_many_datasets", wait=ROOM_SECONDS)
        if n_bytes >= self.n_bytes or n_bytes + n_new_bytes > self.n_bytes:
            detail = (
                f"the limit of {self.n_bytes} bytes of uploads is reached; delete a dataset first"
            )
            raise TooMany(detail, code="too_many_bytes", wait=ROOM_SECONDS)
        return self.n_bytes - n_bytes

    def check_submission(self, n_queued: int) -> None:
        """Refuse one job more in the queue."""
        if n_queued >= self.n_queued_jobs:
            detail = (
                f"the limit of {self.n_queued_jobs} queued jobs is reached; wait for one to start"
            )
            raise TooMany(detail, code="too_many_queued_jobs", wait=QUEUE_SECONDS)

    def check_webhook(self, n_webhooks: int) -> None:
        """Refuse one endpoint more."""
        if n_webhooks >= self.n_webhooks:
            detail = f"the limit of {self.n_webhooks} webhooks is reached; delete one first"
            raise TooMany(detail, code="too_many_webhooks", wait=ROOM_SECONDS)


UNLIMITED = Quota()
