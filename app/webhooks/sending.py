"""One request to an endpoint: to the address that was judged, within its time, nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, RemoteDisconnected
from importlib.metadata import version
from ssl import SSLCertVerificationError, SSLError

from app.addresses import AddressRefused, Network, Place, parse_place, resolve
from app.channels import connected
from app.webhooks.turns import Outcome

AGENT = f"Pith/{version('pith')}"
MAX_ERROR_LENGTH = 500


def send(
    url: str,
    headers: Mapping[str, str],
    body: str,
    *,
    seconds: float,
    allowed: Sequence[Network],
) -> Outcome:
    """Deliver once; redirects are not followed, and of the answer only the status is read."""
    try:
        place = parse_place(url)
        address = resolve(place.host, place.port, allowed)[0]
        return _told(_post(place, address, body.encode(), headers, seconds))
    except AddressRefused as refused:
        return Outcome(None, f"its address {refused}"[:MAX_ERROR_LENGTH])
    except (OSError, HTTPException) as error:
        return Outcome(None, _in_words(error)[:MAX_ERROR_LENGTH])


def _in_words(error: OSError | HTTPException) -> str:
    """For the owner of the endpoint, who need not know what this is written in."""
    if isinstance(error, SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, SSLError):
        return f"no encryption could be agreed on: {error.reason}"
    if isinstance(error, RemoteDisconnected):
        return "it closed the connection without an answer"
    if isinstance(error, HTTPException):
        return "what it answered is not HTTP"
    return str(error.strerror or error).lower()


def _told(status: int) -> Outcome:
    is_redirect = 300 <= status < 400
    return Outcome(status, "redirects are not followed" if is_redirect else None)


def _post(
    place: Place, address: str, body: bytes, headers: Mapping[str, str], seconds: float
) -> int:
    own = {"Host": place.authority, "User-Agent": AGENT}
    connection = HTTPConnection(place.host, place.port)
    with connected(place, address, seconds) as channel:
        connection.sock = channel
        connection.request("POST", place.target, body, {**own, **headers, "Connection": "close"})
        return connection.getresponse().status
