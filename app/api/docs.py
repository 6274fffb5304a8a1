"""The page that shows the API, from files of a wheel: it works without the internet."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse

from app.errors import NotFound

router = APIRouter(include_in_schema=False)

ASSETS = {"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"}


@router.get("/docs")
async def show_docs() -> HTMLResponse:
    """Swagger UI."""
    return get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Pith",
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon-32x32.png",
    )


@router.get("/docs/{name}")
def get_asset(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in ASSETS:
        raise NotFound(f"there is no {name} here")
    return FileResponse(str(files("fastapi_swagger.resources").joinpath(name)))
