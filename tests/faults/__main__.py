"""`make faults`: break the service at random and check that nothing was lost or done twice."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults.plan import Kind
from tests.faults.run import Report, run

console = Console(width=100)


def main() -> int:
    options = _options()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    directory = options.directory or Path(tempfile.mkdtemp(prefix="pith-faults-"))
    directory.mkdir(parents=True, exist_ok=True)
    console.print(f"seed {seed}, history and logs in {directory}")
    on_s3 = options.store == "s3"
    report = run(seed, options.seconds, options.clients, options.workers, directory, on_s3=on_s3)
    show(report)
    return 1 if report.violations else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long faults happen")
    parser.add_argument("--seed", type=int, help="of a run to be repeated; chosen if left out")
    parser.add_argument("--clients", type=int, default=6, help="callers at the same time")
    parser.add_argument("--workers", type=int, default=2, help="workers; two at least")
    parser.add_argument("--store", choices=["s3", "directory"], default="s3", help="for datasets")
    parser.add_argument("--directory", type=Path, help="for the history and the logs")
    return parser.parse_args()


def show(report: Report) -> None:
    """The figures as two tables, and every violation."""
    evidence = report.evidence
    by_status = Counter(job.status for job in evidence.jobs.values())
    unanswered = Counter(line["error"] for line in evidence.history if "error" in line)
    done = Table("what", "how often", title="What was done")
    done.add_row("requests", str(len(evidence.history)))
    done.add_row("  not answered", str(unanswered.total()))
    for error, count in unanswered.most_common():
        done.add_row(f"    {error}", str(count))
    done.add_row("datasets", str(len(evidence.datasets)))
    done.add_row("jobs", str(len(evidence.jobs)))
    for status, count in sorted(by_status.items()):
        done.add_row(f"  {status}", str(count))
    of_units = [job for job in evidence.jobs.values() if job.n_units]
    done.add_row("  made of units", str(len(of_units)))
    done.add_row("units done", str(sum(job.n_units_done for job in of_units)))
    done.add_row("webhooks received", str(report.n_heard))
    faults = Table("fault", "how often", title="What went wrong")
    for kind in Kind:
        faults.add_row(kind, str(report.inflicted[kind]))
    console.print(done, faults)
    for sentence in report.violations:
        console.print(f"[red]violation:[/red] {sentence}")
    console.print(f"seed {report.seed}, violations: {len(report.violations)}")


if __name__ == "__main__":
    sys.exit(main())
