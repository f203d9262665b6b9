"""Tells whether a webhook was sent by the server: the signatures of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from ._errors import WebhookError
from .types import Event

TOLERANCE_SECONDS = 300
_PREFIX = "whsec_"


def verify_webhook(
    secret: str,
    headers: Mapping[str, str],
    body: bytes | str,
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> Event:
    """The event of a webhook, if its signature is right; else raises `WebhookError`.

    `body` must be what was received, byte by byte, not JSON that was parsed and written again. An
    event may arrive twice: remember the ids that you have processed.
    """
    found = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not found.get(name):
            raise WebhookError(f"the webhook has no header {name}")
    sent = found["webhook-timestamp"]
    is_number = sent.isascii() and sent.isdigit()
    if not is_number or abs(time.time() - int(sent)) > tolerance_seconds:
        raise WebhookError("the webhook was sent too long ago, or has no valid time")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{found['webhook-id']}.{sent}.".encode() + content
    expected = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    # Two while the secrets of a rotation overlap.
    for signature in found["webhook-signature"].split(" "):
        version, _, value = signature.partition(",")
        # Takes the same time wherever the two differ.
        if version == "v1" and hmac.compare_digest(_decoded(value), expected):
            event: Event = json.loads(content)
            return event
    raise WebhookError("no signature of the webhook is right; check the secret")


def _key(secret: str) -> bytes:
    key = _decoded(secret.removeprefix(_PREFIX))
    if not key:
        raise WebhookError("the secret must be whsec_ and base64")
    return key


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
