"""The pages for people: the web page and the reference, all from files of wheels."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse

from app.api.deps import JOB_ID
from app.errors import NotFound
from app.issuers import Issuer
from app.settings import Settings

router = APIRouter(include_in_schema=False)

JobQuery = Annotated[str, Query(pattern=JOB_ID.pattern)]

ROOT = Path(str(files("app").joinpath("web")))
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
}
FILES = {str(path.relative_to(ROOT)): path for path in ROOT.rglob("*") if path.suffix in TYPES}

SWAGGER = Path(str(files("fastapi_swagger.resources")))
SWAGGER_FILES = {"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"}
REFERENCE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pith API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
# In a file of its own, since the policy lets no script run that stands in a page.
START = """SwaggerUIBundle({ url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true });
"""


def _policy(images: str, *asked: str) -> dict[str, str]:
    """Only the service's own files run and style a page; it asks the service and who is named."""
    connect = " ".join(("'self'", *asked))
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src {connect}; "
        f"img-src 'self' {images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy}


# Swagger UI draws its arrows from data: addresses.
REFERENCE_HEADERS = _policy("data:")


@router.get("/docs")
async def show_reference() -> HTMLResponse:
    """Swagger UI; its button Authorize takes a key."""
    return HTMLResponse(REFERENCE, headers=REFERENCE_HEADERS)


@router.get("/docs/start.js")
async def get_start() -> Response:
    """What makes the reference."""
    return Response(START, media_type="text/javascript")


@router.get("/docs/{name}")
def get_swagger_file(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in SWAGGER_FILES:
        raise _not_found(name)
    return FileResponse(SWAGGER / name)


@router.get("/")
def show_page(request: Request) -> Response:
    """The web page."""
    return get_file("index.html", request)


@router.get("/compare")
def show_comparison(a: JobQuery, b: JobQuery) -> Response:
    """The page of two jobs side by side."""
    return RedirectResponse(f"/#/compare?{urlencode({'a': a, 'b': b})}")


@router.get("/web/sign-in.json")
def get_places(request: Request) -> Response:
    """Where the page can sign in, if anywhere."""
    places = [
        {
            "issuer": issuer.issuer,
            "client_id": issuer.client_id,
            "scope": issuer.client_scope,
            "parameters": issuer.client_parameters,
        }
        for issuer in _issuers(request)
    ]
    return JSONResponse(places, headers={"Cache-Control": "no-cache"})


@router.get("/web/{name:path}")
def get_file(name: str, request: Request) -> Response:
    """A file of the web page."""
    if name not in FILES:
        raise _not_found(name)
    origins = [origin for issuer in _issuers(request) for origin in issuer.origins]
    # Pictures that the page draws itself are saved by way of blobs; an upgraded service is never
    # shown by yesterday's script.
    headers = {**_policy("blob:", *origins), "Cache-Control": "no-cache"}
    return FileResponse(FILES[name], headers=headers, media_type=TYPES[FILES[name].suffix])


def _issuers(request: Request) -> list[Issuer]:
    """Those at which the page may sign in."""
    settings: Settings = request.app.state.settings
    return [issuer for issuer in settings.oidc_issuers if issuer.client_id]


def _not_found(name: str) -> NotFound:
    return NotFound(f"there is no {name} here")
