"""What polls were answered with: a version of a job has one body, however often it is asked for."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

KEPT = 4096


@dataclass(frozen=True)
class Answer:
    """A rendered job."""

    version: int
    is_final: bool
    body: str


class PolledJobs:
    """The newest answers of the jobs asked for last; a stale one is never given."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._lock = Lock()

    def find(self, job_id: str, version: int) -> Answer | None:
        """The answer for this very version, if it was rendered before."""
        answer = self._answers.get(job_id)
        return answer if answer is not None and answer.version == version else None

    def keep(self, job_id: str, answer: Answer) -> None:
        """Remember an answer, and forget the oldest when there are too many."""
        with self._lock:
            self._answers[job_id] = answer
            self._answers.move_to_end(job_id)
            if len(self._answers) > KEPT:
                self._answers.popitem(last=False)
