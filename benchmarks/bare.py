"""What the service is compared with: one FastAPI route with nothing behind it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from app.api.door.server import run_server
from app.settings import Settings

ANSWER = {"id": "job_0123456789abcdef", "status": "succeeded", "phase": None, "progress": 1.0}


def create_app() -> FastAPI:
    app = FastAPI()

    @app.get("/")
    def read() -> dict[str, Any]:
        return ANSWER

    return app


if __name__ == "__main__":
    run_server(create_app, Settings())
