"""The page's files, and the pictures and the report that the API draws."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from app.api.routes.pages import FILES
from tests.app.running import Service

SCRIPTS = {name: path.read_text() for name, path in FILES.items() if path.suffix == ".js"}
REFERENCE = re.compile(r'(?:from|src=|href=)\s*"(\.{1,2}/[^"]+|web/[^"]+)"')


def finished_job(service: Service) -> str:
    job_id = service.submit(service.ready_dataset(), k=2)
    assert service.final(job_id)["status"] == "succeeded"
    return job_id


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_reads_text_as_markup_or_code(name: str) -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", SCRIPTS[name])
    assert not re.search(r"\beval\(|new Function|\.setAttribute\(.style", SCRIPTS[name])
    addresses = re.findall(r"https?://[^\"'` ]+", SCRIPTS[name])
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}


def test_the_page_and_every_file_it_names_are_served(service: Service) -> None:
    seen: set[str] = set()
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        answer = service.client.get(path)
        assert answer.status_code == 200, path
        assert "script-src 'self'; style-src 'self'" in answer.headers["content-security-policy"]
        seen.add(path)
        found = {str(httpx.URL(path).join(link)) for link in REFERENCE.findall(answer.text)}
        waiting += sorted(found - seen - set(waiting))
    unseen = {f"/web/{name}" for name in FILES} - seen
    assert unseen == {"/web/index.html", "/web/report.css", "/web/wine.csv"}


def test_the_example_of_the_page_is_that_of_the_readme() -> None:
    assert FILES["wine.csv"].read_bytes() == Path("examples/wine.csv").read_bytes()


def test_nothing_else_is_served_from_there(service: Service) -> None:
    for path in ("/web/..%2fmain.py", "/web/%2e%2e/main.py", "/web/views/", "/web/none.js"):
        assert service.client.get(path).status_code == 404


def test_a_result_in_pictures(service: Service) -> None:
    answer = service.client.get(f"/v1/jobs/{finished_job(service)}/charts").json()
    assert answer["headline"] == "2 features chosen for y by GSM-CPD."
    names = [chart["name"] for chart in answer["charts"]]
    assert names == ["gains", "states", "factors", "likelihood"]
    assert [row[1] for row in answer["charts"][0]["rows"]] == ["a", "b"]


def test_the_pixels_are_drawn_as_wide_as_asked(service: Service) -> None:
    path = f"/v1/jobs/{finished_job(service)}/charts"
    charts = service.client.get(path, params={"pixel_width": 2}).json()["charts"]
    (pixels,) = [chart for chart in charts if chart["name"] == "pixels"]
    assert pixels["rows"] == [[1, "a", 1, 1], [2, "b", 1, 2]]
    assert service.client.get(path, params={"pixel_width": 0}).status_code == 422


def test_the_report_is_one_page_that_runs_nothing(service: Service) -> None:
    answer = service.client.get(f"/v1/jobs/{finished_job(service)}/report")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<script" not in answer.text


def test_there_is_no_report_before_the_result(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow")
    for part in ("charts", "report"):
        answer = service.client.get(f"/v1/jobs/{job_id}/{part}")
        assert (answer.status_code, answer.json()["code"]) == (409, "no_result")
    service.client.post(f"/v1/jobs/{job_id}/cancel")
