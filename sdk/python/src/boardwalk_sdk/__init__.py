"""Client for Boardwalk's merchant onboarding interface. Start with `Boardwalk`."""

from __future__ import annotations

import ssl
from types import TracebackType

from . import operations, types
from ._core import RETRIES_MAX, TIMEOUT_SECONDS, Core, Feed, FileBody, Paged
from ._errors import (
    APIError,
    AuthenticationError,
    BoardwalkError,
    ConflictError,
    ConnectionError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    ScopeError,
    ServerError,
    VersionError,
    WebhookError,
)
from ._webhooks import verify_webhook
from .types import VERSION as __version__


class Boardwalk(operations.Operations):
    """A server, and who asks it.

    server: Address of the server, such as `https://sandbox.example`.
    api_key: API key of an ISO: `bw_test_…` or `bw_live_…`.
    device_token: Token of a paired device, instead of a key.
    pairing_code: Code with which a device is paired, instead of a key.
    timeout_seconds: How long the server may be silent in one attempt.
    retries_max: How often a request is repeated after a failure that may pass.
    ssl_context: Whom to trust, if not those whom the machine trusts.
    """

    def __init__(
        self,
        server: str,
        api_key: str | None = None,
        *,
        device_token: str | None = None,
        pairing_code: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retries_max: int = RETRIES_MAX,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        schemes = {
            "api-key": api_key,
            "device-token": device_token,
            "pairing-code": pairing_code,
        }
        given = (f"{scheme} {value}" for scheme, value in schemes.items() if value)
        core = Core(
            server,
            next(given, None),
            timeout_seconds=timeout_seconds,
            retries_max=retries_max,
            ssl_context=ssl_context,
        )
        super().__init__(core)

    def close(self) -> None:
        """Closes the connection of this thread; the next request opens another."""
        self._core.close()

    def __enter__(self) -> Boardwalk:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


__all__ = [
    "APIError",
    "AuthenticationError",
    "Boardwalk",
    "BoardwalkError",
    "ConflictError",
    "ConnectionError",
    "Feed",
    "FileBody",
    "InvalidRequestError",
    "NotFoundError",
    "Paged",
    "RateLimitError",
    "ScopeError",
    "ServerError",
    "VersionError",
    "WebhookError",
    "__version__",
    "operations",
    "types",
    "verify_webhook",
]
