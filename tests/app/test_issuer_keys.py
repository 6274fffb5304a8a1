"""The keys of an OIDC issuer: rotated, withdrawn, asked for at a bounded pace, and away."""

from __future__ import annotations

import asyncio
from typing import Any

import jwt
import pytest

from app.api.door import issuer_keys
from app.api.door.guesses import Guesses
from app.api.door.tokens import Tokens
from app.errors import TooMany, Unauthorized, Unavailable
from app.identity.discovery import MAX_BYTES
from app.issuers import Issuer as Configured
from tests.issuer import Issuer, issuer, new_key

pytestmark = pytest.mark.usefixtures("logging_configured")


def tokens_of(state: Issuer, pace_seconds: float = 0, guesses: float = 0, **more: Any) -> Tokens:
    configured = Configured(**state.settings(**more))
    return Tokens([configured], Guesses(guesses), pace_seconds=pace_seconds)


def test_keys_rotate(fickle: Issuer) -> None:
    async def scenario() -> None:
        tokens = tokens_of(fickle)
        old = fickle.token()
        assert (await tokens.grant_of(old)).tenant == "acme"
        fickle.keys["second"] = new_key("ES256")
        assert (await tokens.grant_of(fickle.token(alg="ES256"))).tenant == "acme"
        assert (await tokens.grant_of(old)).tenant == "acme"
        del fickle.keys["first"]
        with pytest.raises(Unauthorized):
            await tokens.grant_of(fickle.token(kid="second", key=new_key("ES256"), alg="ES256"))

    asyncio.run(scenario())


def test_a_key_that_is_withdrawn_is_believed_no_longer(
    fickle: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        tokens, token = tokens_of(fickle), fickle.token()
        await tokens.grant_of(token)
        fickle.keys = {"second": new_key()}
        await tokens.grant_of(token)  # not asked yet
        monkeypatch.setattr(issuer_keys, "FRESH_SECONDS", -1)
        with pytest.raises(Unauthorized, match="no such key"):
            while True:
                await tokens.grant_of(token)
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_unknown_keys_are_asked_for_at_a_bounded_pace(fickle: Issuer) -> None:
    async def scenario() -> None:
        tokens, stranger = tokens_of(fickle, pace_seconds=3600), new_key()
        forged = [fickle.token(key=stranger, kid="first", n=n) for n in range(3)]
        unknown = [
            jwt.encode({"iss": fickle.url}, stranger, "RS256", {"kid": f"k{n}"}) for n in range(20)
        ]
        answers = await asyncio.gather(
            *map(tokens.grant_of, [*forged, *unknown]), return_exceptions=True
        )
        assert all(isinstance(answer, Unauthorized) for answer in answers)
        assert (await tokens.grant_of(fickle.token())).tenant == "acme"

    asyncio.run(scenario())
    assert len(fickle.asked) == 2  # the two documents, once


def test_guesses_are_counted_and_good_tokens_are_none(steady: Issuer) -> None:
    async def scenario() -> None:
        tokens = tokens_of(steady, guesses=2)
        for n in range(5):
            await tokens.grant_of(steady.token(n=n), "192.0.2.1")
        good = steady.token()
        await tokens.grant_of(good, "192.0.2.1")
        for n in range(2):
            with pytest.raises(Unauthorized):
                await tokens.grant_of(steady.token(key=new_key(), n=n), "192.0.2.1")
        with pytest.raises(TooMany):
            await tokens.grant_of(steady.token(n=9), "192.0.2.1")
        await tokens.grant_of(good, "192.0.2.1")
        await tokens.grant_of(steady.token(n=10), "192.0.2.2")
        with pytest.raises(Unauthorized):  # an unknown key: the issuer is asked anew
            await tokens.grant_of(steady.token(key=new_key(), kid="x"), "192.0.2.3")
        await tokens.grant_of(good, "192.0.2.1")  # judged anew, and no guess for that

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"status": 302}, {"padding": "x" * MAX_BYTES}, {"claimed": "https://x"}],
    ids=["500", "redirect", "endless", "another"],
)
def test_an_issuer_that_answers_wrongly_is_away(fickle: Issuer, fault: dict[str, Any]) -> None:
    for name, value in fault.items():
        setattr(fickle, name, value)
    with pytest.raises(Unavailable) as raised:
        asyncio.run(tokens_of(fickle).grant_of(fickle.token()))
    assert (raised.value.code, raised.value.headers["Retry-After"]) == ("issuer_unavailable", "0")


def test_while_an_issuer_is_away_its_last_keys_hold() -> None:
    with issuer() as state:
        before, tokens = state.token(), tokens_of(state)
        early = tokens_of(state)
        first = asyncio.run(tokens.grant_of(before))
        later = state.token(n=1)
    assert asyncio.run(tokens.grant_of(before)) == first
    assert asyncio.run(tokens.grant_of(later)) == first
    with pytest.raises(Unavailable):
        asyncio.run(early.grant_of(later))
