"""What a key looks like: `pith_`, its public id, its secret part and a checksum.

All of it letters and digits, so that a double click selects it whole. The checksum lets a mistyped
key be refused without asking the database.
"""

from __future__ import annotations

import hmac
import re
import secrets
import string
import zlib

PREFIX = "pith_"
ID_PREFIX = "key_"
ID_LENGTH = 16
SECRET_LENGTH = 32  # 190 random bits
CHECKSUM_LENGTH = 6
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
TOKEN = re.compile(
    rf"{PREFIX}([0-9A-Za-z]{{{ID_LENGTH}}})[0-9A-Za-z]{{{SECRET_LENGTH + CHECKSUM_LENGTH}}}"
)


def new_token() -> str:
    """A key that cannot be guessed."""
    random = "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH + SECRET_LENGTH))
    return PREFIX + random + _checksum(random)


def id_of(token: str) -> str | None:
    """The public id of a key, or None for what cannot be one."""
    match = TOKEN.fullmatch(token)
    if (
        match is None
        or _checksum(token[len(PREFIX) : -CHECKSUM_LENGTH]) != token[-CHECKSUM_LENGTH:]
    ):
        return None
    return ID_PREFIX + match[1]


def digest_of(token: str, secret: bytes) -> str:
    """What is kept of a key: useless without the server's secret, and not to be made without it."""
    return hmac.digest(secret, token.encode(), "sha256").hex()


def _checksum(text: str) -> str:
    number = zlib.crc32(text.encode())
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
