"""The page that shows the API, from files of a wheel: it works without the internet."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse, HTMLResponse

from app.errors import NotFound

router = APIRouter(include_in_schema=False)

ASSETS = {"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pith API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
# In a file of its own, since the policy lets no script run that stands in a page.
START = """SwaggerUIBundle({ url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true });
"""
HEADERS = {
    # Swagger UI draws its arrows from data: addresses.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


@router.get("/docs")
async def show_docs() -> HTMLResponse:
    """Swagger UI; its button Authorize takes a key."""
    return HTMLResponse(PAGE, headers=HEADERS)


@router.get("/docs/start.js")
async def get_start() -> Response:
    """What makes the page."""
    return Response(START, media_type="text/javascript")


@router.get("/docs/{name}")
def get_asset(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in ASSETS:
        raise NotFound(f"there is no {name} here")
    return FileResponse(str(files("fastapi_swagger.resources").joinpath(name)))
