"""The web page: static files of this package, and nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from app.errors import NotFound

router = APIRouter(include_in_schema=False)

ROOT = Path(str(files("app").joinpath("web")))
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
FILES = {str(path.relative_to(ROOT)): path for path in ROOT.rglob("*") if path.suffix in TYPES}
HEADERS = {
    # Only its own files run and style it; pictures it draws itself are saved by way of blobs.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    # An upgraded service is never shown by yesterday's script.
    "Cache-Control": "no-cache",
}


@router.get("/")
def show_page() -> Response:
    """The page itself."""
    return get_file("index.html")


@router.get("/web/{name:path}")
def get_file(name: str) -> Response:
    """A file of the page."""
    if name not in FILES:
        raise NotFound(f"there is no {name} here")
    return FileResponse(FILES[name], headers=HEADERS, media_type=TYPES[FILES[name].suffix])
