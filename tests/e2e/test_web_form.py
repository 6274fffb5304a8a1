"""The form of a new job: checked while it is filled in, written out, filled in again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.browser import CHROMIUM, refused_with
from tests.e2e.embedded import Service

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")


def test_mistakes_are_shown_while_typing(page: Page, service: Service) -> None:
    page.goto(f"/#/new?dataset={service.upload()}")
    target = page.get_by_label("Target", exact=True)
    target.fill("cultivr")
    expect(page.get_by_text("the nearest name is 'cultivar'")).to_be_visible()
    expect(target).to_have_attribute("aria-invalid", "true")
    target.fill("cultivar")
    page.get_by_text("Parameters of the method").click()
    page.get_by_label("n_models").fill("many")
    expect(page.locator(".field", has_text="n_models").locator(".mistake")).not_to_be_empty()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("One field needs your attention.")).to_be_visible()
    cost = page.get_by_text(
        re.compile(r"^About [\d.]+ (s|min) and [\d.]+ MB of memory\. .*a worker")
    )
    expect(cost).to_have_count(0)
    page.get_by_label("n_models").fill("2")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    expect(cost).to_be_visible()


def test_a_target_typed_before_the_columns_are_known_is_asked_nothing_about(
    page: Page, service: Service
) -> None:
    held: list[Route] = []
    dataset_id = service.upload()
    page.route(f"**/v1/datasets/{dataset_id}", held.append)
    page.goto(f"/#/new?dataset={dataset_id}")
    target = page.get_by_label("Target", exact=True)
    target.fill("cultivr")
    expect(page.get_by_text("the nearest name is 'cultivar'")).to_be_visible()
    with page.expect_response(f"**/v1/datasets/{dataset_id}"):
        for route in held:
            route.continue_()
    page.get_by_text("Columns", exact=True).click()
    expect(page.get_by_role("checkbox", name="proline")).to_be_visible()
    with page.expect_response(re.compile("/warnings.*target=")) as first:
        target.fill("cultivar")
        target.blur()
    assert first.value.url.endswith("target=cultivar")


def test_every_option_of_a_job_is_asked_for_and_written_out(page: Page, service: Service) -> None:
    page.goto(f"/#/new?dataset={service.upload()}")
    page.get_by_label("Method", exact=True).select_option("mrmr")
    page.get_by_label("K", exact=True).fill("1")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("button", name="None").click()
    expect(page.get_by_text("no usable feature is left")).to_be_visible()
    page.get_by_label("Find a column to use").fill("hue")
    page.get_by_role("checkbox", name="hue").check()
    page.get_by_label("Find a column to use").fill("proline")
    page.get_by_role("checkbox", name="proline").check()
    page.get_by_text("Bins and weights").click()
    page.get_by_label("kinds").fill("prolin = discrete\nhue = sort of")
    expect(page.get_by_text("This must be one of 'continuous' or 'discrete'.")).to_be_visible()
    page.get_by_label("kinds").fill("prolin = discrete")
    expect(page.get_by_text("the nearest name is 'proline'")).to_be_visible()
    page.get_by_label("kinds").fill("proline = continuous")
    page.get_by_text("Title, splits, seed, deadline and labels").click()
    page.get_by_label("deadline in seconds").fill("0")
    expect(page.locator(".field", has_text="deadline").locator(".mistake")).not_to_be_empty()
    page.get_by_label("deadline in seconds").fill("600")
    page.get_by_label("labels").fill("project = wine\nnote = a=b")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    curl, python = page.locator("aside pre").all()
    expect(curl).to_contain_text('"deadline_seconds": 600')
    expect(python).to_contain_text('labels={"project": "wine", "note": "a=b"},')
    written = curl.inner_text()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".headline")).to_contain_text("1 feature tells")
    (job,) = service.client.get("/v1/jobs", params={"label": "project=wine"}).json()["items"]
    asked = service.client.get(f"/v1/jobs/{job['id']}").json()["specification"]
    assert asked["columns"]["candidates"] == ["hue", "proline"]
    assert asked["discretize"]["kinds"] == {"proline": "continuous"}
    page.goto(f"/#/new?like={job['id']}")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    expect(page.locator("aside pre").first).to_have_text(written)


def test_methods_are_compared_again_with_their_parameters(page: Page, service: Service) -> None:
    methods = [{"name": "mrmr"}, {"name": "gsm_cpd", "ranks": [7], "n_models": 1}]
    job_id = service.submit(service.upload(), k=1, method=methods[0], compare={"methods": methods})
    page.goto(f"/#/new?like={job_id}")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    method = r'\{\s*"name": "gsm_cpd",\s*"ranks": \[\s*7\s*\],\s*"n_models": 1\s*\}'
    expect(page.locator("aside pre").first).to_have_text(re.compile(method))
    service.client.post(f"/v1/jobs/{job_id}/cancel")  # unless it is done


@refused_with(429)
def test_a_limit_is_told_where_the_job_was_asked_for(page: Page, service: Service) -> None:
    def refuse(route: Route) -> None:
        problem = {"code": "too_many_queued_jobs", "detail": "100 jobs are waiting already"}
        route.fulfill(status=429, json=problem, content_type="application/problem+json")

    page.route("**/v1/jobs", refuse)
    page.goto(f"/#/new?dataset={service.upload()}")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".alert")).to_contain_text("100 jobs are waiting already.")
    expect(page.get_by_role("button", name="Run")).to_be_enabled()


def test_the_keyboard_reaches_everything(page: Page, service: Service) -> None:
    page.goto(f"/#/new?dataset={service.upload()}")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Dataset", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_label("K", exact=True)).to_be_focused()
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("cultivar")
