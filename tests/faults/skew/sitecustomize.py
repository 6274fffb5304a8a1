"""An interpreter that finds this on its path is on a host with a wrong clock."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import time_machine

ahead = timedelta(seconds=float(os.environ["FAULTS_CLOCK_AHEAD"]))
time_machine.travel(datetime.now(UTC) + ahead, tick=True).start()
