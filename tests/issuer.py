"""An OIDC issuer of our own: an HTTP server whose keys rotate and whose users always agree."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "pith"
CLIENT = "pith-page"
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def new_key(algorithm: str = "RS256") -> Key:
    if algorithm.startswith("ES"):
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_document(kid: str, key: Key) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}
    return {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid}


@dataclass
class Issuer:
    """What it signs with, what it was asked, and how it answers; unless `released` it hangs."""

    port: int = 0
    keys: dict[str, Key] = field(default_factory=lambda: {"first": new_key()})
    subject: dict[str, Any] = field(default_factory=lambda: {"sub": "ada", "tenant": "acme"})
    status: int = 200
    padding: str = ""
    claimed: str = ""
    # Of a sign-in: what the page sent, and what it is answered with instead of the truth.
    lies: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.released.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/realm"

    def settings(self, **more: Any) -> dict[str, Any]:
        return {"issuer": self.url, "audience": AUDIENCE, **more}

    def token(
        self,
        *,
        key: Any = None,
        kid: str = "",
        alg: str = "RS256",
        kind: str | None = "JWT",
        **claims: Any,
    ) -> str:
        """A good one, but for what is asked for; a claim that is None is left out."""
        now = int(time.time())
        kid = kid or next(reversed(self.keys))
        whole = {"iss": self.url, "aud": AUDIENCE, "iat": now, "exp": now + 300, **self.subject}
        whole = {"scope": "openid pith:read", **whole, **claims}
        said = {name: value for name, value in whole.items() if value is not None}
        header = {"kid": kid, "typ": kind}
        return jwt.encode(said, self.keys[kid] if key is None else key, alg, header)

    def answer(self, path: str) -> Any:
        """A document, or None where there is none."""
        if path == "/realm/.well-known/openid-configuration":
            ends = {
                "jwks_uri": "/keys",
                "authorization_endpoint": "/authorize",
                "token_endpoint": "/token",
            }
            return {"issuer": self.claimed or self.url} | {k: self.url + v for k, v in ends.items()}
        if path == "/realm/keys":
            found = [public_document(kid, key) for kid, key in self.keys.items()]
            return {"keys": found, "padding": self.padding}
        return None

    def authorize(self, query: str) -> str:
        """Where the browser goes, with a code for what it asked."""
        asked = dict(parse_qsl(query))
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        truth = {"code": code, "state": asked["state"], "iss": self.url}
        given = {name: self.lies.get(name, value) for name, value in truth.items()}
        return f"{asked['redirect_uri']}?{urlencode(given)}"

    def redeem(self, form: Mapping[str, str]) -> dict[str, str] | None:
        """Tokens for a code, once, and only to whoever has the verifier."""
        asked = self.codes.pop(form["code"], {})
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = urlsafe_b64encode(digest).decode().rstrip("=")
        same = all(asked.get(name) == form[name] for name in ("client_id", "redirect_uri"))
        if not same or asked["code_challenge"] != challenge:
            return None
        nonce = self.lies.get("nonce", asked["nonce"])
        identity = self.token(aud=CLIENT, nonce=nonce)
        return {
            "access_token": self.token(scope="pith:read pith:write"),
            "id_token": self.lies.get("id_token", identity),
            "token_type": "Bearer",
        }


@contextmanager
def issuer() -> Iterator[Issuer]:
    """One on a free port."""
    state = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            state.asked.append(parts.path)
            state.released.wait(60)
            if parts.path == "/realm/authorize":
                self.reply(302, {}, Location=state.authorize(parts.query))
            elif (document := state.answer(parts.path)) is None:
                self.reply(404, {})
            else:
                self.reply(state.status, document, Location=self.path)

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            state.asked.append(self.path)
            tokens = state.redeem({name: values[0] for name, values in form.items()})
            self.reply(200 if tokens else 400, tokens or {"error": "invalid_grant"})

        def reply(self, status: int, document: Any, **headers: str) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: Any) -> None:
            """A caller that has lost its patience is no fault of ours."""

    with Server(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            state.released.set()
            server.shutdown()
            thread.join()
