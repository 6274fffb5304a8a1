"""The web page as a person uses it: upload, submit, watch, read, cancel, and what goes wrong."""

from __future__ import annotations

import ast
import csv
import io
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from tests.e2e.browser import CHROMIUM, choose_file, opened, refused_with
from tests.e2e.embedded import SLOW, WINE, Service, write_wide_table

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")

HOSTILE = ["<img src=x onerror=alert(1)>", "a'b&\"<b>", "</script>"]


def test_from_a_file_to_its_features(page: Page) -> None:
    choose_file(page, "wine.csv", WINE.read_bytes() + b"\n")
    expect(page.locator("h1")).to_contain_text("wine.csv")
    expect(page.locator(".columns tbody tr")).to_have_count(14)
    expect(page.locator(".histogram")).to_have_count(14)
    page.get_by_role("link", name="Predict").last.click()
    expect(page.get_by_label("Target", exact=True)).to_have_value("cultivar")
    page.get_by_label("K", exact=True).fill("3")
    page.get_by_label("Measure accuracy").check()
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    expect(page.locator("aside pre").first).to_contain_text('"k": 3')
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".headline")).to_contain_text("3 features tell")
    expect(page.locator("#chart-held_out svg:visible")).to_be_visible()
    page.get_by_role("group", name="Score").get_by_text("accuracy", exact=True).click()
    expect(page.locator("#chart-accuracy svg:visible")).to_be_visible()
    expect(page.locator("#chart-held_out_accuracy svg:visible")).to_be_visible()
    expect(page.locator("#chart-held_out")).to_have_count(0)
    expect(page.locator(".pill")).to_have_text("succeeded")


def test_every_chart_has_its_data_and_downloads(page: Page, finished: str) -> None:
    page.goto(f"/#/jobs/{finished}")
    gains = page.locator("#chart-gains")
    gains.get_by_role("button", name="Data").click()
    expect(gains.locator("tbody tr")).to_have_count(3)
    saved = {}
    for kind in ("CSV", "JSON", "SVG", "PNG"):
        with page.expect_download() as download:
            gains.get_by_role("button", name=kind).click()
        saved[kind] = Path(download.value.path()).read_bytes()
        name = f"-cultivar-what-each-feature-adds-under-the-fitted-model.{kind.lower()}"
        assert download.value.suggested_filename.endswith(name)
    rows = list(csv.DictReader(io.StringIO(saved["CSV"].decode())))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert saved["JSON"].startswith(b"[")
    assert saved["SVG"].startswith(b"<svg")
    assert b"What each feature adds" in saved["SVG"] and b"In the order of choice." in saved["SVG"]
    assert saved["PNG"].startswith(b"\x89PNG")


def test_a_choice_is_taken_away_as_a_table_and_as_names(page: Page, finished: str) -> None:
    page.goto(f"/#/jobs/{finished}")
    chosen = page.get_by_label("Chosen features").get_by_role("listitem")
    expect(chosen).to_have_count(3)
    names = chosen.all_inner_texts()
    away = page.locator(".take-away")
    with page.expect_download() as download:
        away.get_by_role("button", name="CSV").click()
    table = pl.read_csv(download.value.path())
    assert (table.columns, table.height) == ([*names, "cultivar"], 178)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = {}
    for kind in ("Text", "Python", "SQL", "scikit-learn"):
        page.evaluate("navigator.clipboard.writeText('')")
        away.get_by_role("button", name=kind).click()
        copied[kind] = page.wait_for_function("navigator.clipboard.readText()").json_value()
    assert copied["Text"].splitlines() == names
    assert ast.literal_eval(copied["Python"]) == names
    assert copied["SQL"] == ", ".join(f'"{name}"' for name in names)
    assert reduced_by(copied["scikit-learn"], WINE) == names


def reduced_by(snippet: str, table: Path) -> list[str]:
    """The columns that the pasted transformer keeps of a table."""
    found: dict[str, Any] = {}
    exec(snippet, found)
    transformer = found["chosen"].set_output(transform="polars")
    kept = transformer.fit_transform(pl.read_csv(table))
    return [name.removeprefix("numbers__") for name in kept.columns]


def test_two_jobs_are_ticked_and_compared(page: Page, finished: str, rival: str) -> None:
    page.goto("/#/jobs")
    compare = page.get_by_role("button", name="Compare")
    expect(compare).to_be_disabled()
    for job_id in (finished, rival):
        row = page.locator("tbody tr", has=page.locator(f'a[href="#/jobs/{job_id}"]'))
        row.get_by_role("checkbox").check()
    compare.click()
    expect(page.locator("h1")).to_have_text("Two jobs side by side")
    expect(page.locator("#chart-difference svg:visible polyline")).to_have_count(2)
    expect(page.get_by_role("row", name="method · name")).to_contain_text("mrmr")
    expect(page.get_by_role("row", name="method · ranks")).to_contain_text("method · ranks5")
    expect(page.get_by_role("row", name="method · smoothing")).to_have_count(0)  # as usual
    page.goto(f"/compare?a={rival}&b={finished}")
    expect(page.get_by_text("A is cultivar (MRMR, K 2")).to_be_visible()
    expect(page.locator(f'a[href="#/jobs/{rival}"]')).to_have_attribute("title", rival)


def test_the_report_is_saved(page: Page, finished: str) -> None:
    page.goto(f"/#/jobs/{finished}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report").click()
    assert download.value.suggested_filename.endswith("-cultivar-report.html")
    assert Path(download.value.path()).read_text().startswith("<!doctype html>")


def test_older_ones_come_by_pages_below_the_live_ones(page: Page, service: Service) -> None:
    def shorten(route: Route) -> None:
        route.continue_(url=route.request.url.replace("page_size=100", "page_size=2"))

    dataset = service.upload()
    jobs = [service.submit(dataset, k=1, method={"name": "mrmr"}) for _ in range(5)]
    page.route("**/v1/jobs?*", shorten)
    page.goto("/#/jobs")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Older").press("Enter")
    expect(rows).to_have_count(4)
    expect(rows.nth(2).get_by_role("link").first).to_be_focused()
    jobs.append(service.submit(dataset, k=1, method={"name": "mrmr"}))
    expect(rows).to_have_count(6)
    expect(rows.first.locator(".pill")).to_have_text("succeeded")
    for row, job in enumerate(reversed(jobs)):
        link = rows.nth(row).locator("td.name a").first
        expect(link).to_have_attribute("href", f"#/jobs/{job}")
    service.client.delete(f"/v1/jobs/{jobs[0]}").raise_for_status()
    expect(page.locator(f'a[href="#/jobs/{jobs[0]}"]')).to_have_count(0)


def test_the_address_keeps_the_filter(page: Page, service: Service) -> None:
    service.submit(service.upload(), k=1, method={"name": "mrmr"})
    page.goto("/#/jobs")
    page.get_by_label("Status").select_option("failed")
    expect(page.get_by_text("No failed jobs.")).to_be_visible()
    # The page changes its address a moment after its text.
    expect(page).to_have_url(re.compile(r"#/jobs\?status=failed$"))
    page.reload()
    expect(page.get_by_text("No failed jobs.")).to_be_visible()
    expect(page.get_by_label("Status")).to_have_value("failed")


def test_a_running_job_shows_its_progress_and_stops(
    page: Page, service: Service, tmp_path: Path
) -> None:
    wide = service.upload(write_wide_table(tmp_path / "wide.csv"))
    job_id = service.submit(wide, method=SLOW)
    page.goto("/#/jobs")
    page.locator(f'a[href="#/jobs/{job_id}"]').click()
    expect(page.locator(".phases .now")).to_have_text("Fitting the model")
    line = page.get_by_label("Log-likelihood").locator("polyline")
    expect(line).to_have_attribute("points", re.compile(r"\S+ \S+ \S+"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".pill")).to_have_text("cancelled")
    expect(page.get_by_text("The job was cancelled.")).to_be_visible()


def test_what_is_done_can_be_kept(page: Page, service: Service) -> None:
    methods = [{"name": "mrmr"}, {"name": "jmi"}]
    compare = {"methods": methods, "n_splits": 100}
    job_id = service.submit(
        service.upload(), k=2, method=methods[0], compare=compare, stability={"n_samples": 1000}
    )
    page.goto(f"/#/jobs/{job_id}")
    expect(page.locator(".phases .now")).to_have_text("Comparing methods")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Keep it").click()
    expect(page.locator(".pill")).to_have_text(["succeeded", "partial"])
    expect(page.locator("#part-answer")).to_contain_text("The job was ended before all was done")
    expect(page.locator("#part-answer")).to_contain_text("of 1000 samples for the stability")


@refused_with(404)
def test_errors_are_sentences(page: Page) -> None:
    choose_file(page, "one.csv", b"a\n1\n2\n")
    expect(page.locator(".failure")).to_contain_text("fewer than two columns")
    choose_file(page, "picture.gif", b"GIF89a")
    expect(page.locator(".alert")).to_contain_text("picture.gif is no CSV")
    page.goto(f"/#/jobs/job_{'0' * 32}")
    expect(page.locator(".failure")).to_contain_text("There is no job")


def test_names_that_try_to_be_markup_are_text(page: Page, service: Service) -> None:
    rows = "".join(f"{i % 2},<b>{i % 3}</b>,<i>{i % 2}</i>\n" for i in range(60))
    head = io.StringIO()
    csv.writer(head).writerow(HOSTILE)
    choose_file(page, "<u>hostile</u>.csv", (head.getvalue() + rows).encode())
    expect(page.locator("th.name").first).to_have_text(HOSTILE[0])
    page.get_by_role("link", name="Predict").last.click()
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".headline")).to_contain_text("</script>")
    expect(page.locator("figure", has_text=HOSTILE[0]).first).to_be_visible()
    expect(page.locator("main img, main script, main b, main i, main u")).to_have_count(0)


def test_light_and_dark_follow_the_system_and_the_reader(
    browser: Browser, service: Service, finished: str
) -> None:
    with opened(browser, service.address, dark=True) as page:
        page.goto(f"/#/jobs/{finished}")
        body = page.locator("body")
        expect(body).to_have_css("background-color", "rgb(16, 20, 24)")
        page.get_by_role("button", name="Light").click()
        expect(body).to_have_css("background-color", "rgb(246, 247, 247)")
        page.reload()
        expect(body).to_have_css("background-color", "rgb(246, 247, 247)")


@refused_with(401)
def test_a_key_is_asked_for_and_sent_with_every_request(page: Page) -> None:
    sent: list[str | None] = []

    def answer(route: Route) -> None:
        headers = dict(route.request.headers)
        sent.append(headers.pop("authorization", None))
        if sent[-1] == "Bearer pith_secret":
            route.continue_(headers=headers)  # the service behind asks for none
        else:
            problem = {"code": "key_required", "detail": "send a key"}
            route.fulfill(status=401, json=problem, content_type="application/problem+json")

    page.route("**/v1/**", answer)
    page.goto("/#/jobs")
    expect(page.get_by_text("This service asks for a key.")).to_be_visible()
    page.get_by_label("Key", exact=True).fill("pith_secret")
    page.get_by_role("button", name="Use this key").click()
    expect(page.locator("h1")).to_have_text("Jobs")
    expect(page.locator(".failure")).to_have_count(0)
    assert sent[0] is None
    assert page.evaluate("sessionStorage.getItem('pith-key')") == "pith_secret"
    assert page.evaluate("Object.keys(localStorage)") == []


def test_methods_are_compared_in_one_picture(page: Page, service: Service) -> None:
    page.goto(f"/#/new?dataset={service.upload()}")
    page.get_by_label("Method", exact=True).select_option("mrmr")
    page.get_by_label("K", exact=True).fill("2")
    page.get_by_label("CMIM").check()
    page.get_by_label("Measure how stable").check()
    page.get_by_text("Splits, seed, deadline and labels").click()
    page.get_by_label("comparison splits").fill("2")
    page.get_by_label("stability samples").fill("2")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    written = 'compare={"methods": ["mrmr", "cmim"], "n_splits": 2}'
    expect(page.locator("aside")).to_contain_text(written)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#chart-ranking circle:visible")).to_have_count(
        4
    )  # and what no and all features reach
    expect(page.locator("#chart-stability")).to_contain_text("2 random halves")


def test_a_wide_result_takes_few_requests(page: Page, service: Service, tmp_path: Path) -> None:
    table = write_wide_table(tmp_path / "wide.csv", n_rows=200, n_features=1000)
    method = {"name": "gsm_cpd", "ranks": [4], "n_models": 1, "n_init": 1}
    job_id = service.submit(service.upload(table), k=50, method=method)
    service.wait_for(job_id, "succeeded")
    answers: dict[str, Response] = {}
    page.on("response", lambda answer: answers.update({answer.url: answer}))
    page.goto(f"/#/jobs/{job_id}")
    expect(page.locator(".headline")).to_have_text("No column here tells anything about cultivar.")
    page.wait_for_load_state("networkidle")
    assert len([url for url in answers if "/v1/" in url]) == 3
    assert sum(len(answer.body()) for answer in answers.values()) < 1_000_000
    assert page.evaluate("document.querySelectorAll('*').length") < 10_000
