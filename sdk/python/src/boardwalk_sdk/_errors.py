"""What can go wrong, as classes to catch."""

from __future__ import annotations

import email.message
import email.utils
import json
import time

from .types import ErrorItem


class BoardwalkError(Exception):
    """Of everything that this package raises."""


class ConnectionError(BoardwalkError):
    """There was no response: the server could not be reached, or took too long."""


class WebhookError(BoardwalkError):
    """A webhook was not sent by the server, or long ago."""


class APIError(BoardwalkError):
    """The server refused the request."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        errors: list[ErrorItem],
        request_id: str | None,
        retry_after_seconds: float | None,
    ) -> None:
        super().__init__(message)
        self.status = status
        """Status of the response."""
        self.errors = errors
        """Everything that is wrong with the request."""
        self.request_id = request_id
        """Names the request in the server's logs."""
        self.retry_after_seconds = retry_after_seconds
        """Seconds to wait before another attempt, if the server said so."""

    @property
    def code(self) -> str | None:
        """Code of the first error, such as `unknown_zip`."""
        return self.errors[0]["code"] if self.errors else None

    @property
    def param(self) -> str | None:
        """Path of the first field that is wrong, such as `storeData.zipCode`."""
        return (self.errors[0]["param"] or None) if self.errors else None


class InvalidRequestError(APIError):
    """400, 413, 415, 422, 431: change what you send."""


class AuthenticationError(APIError):
    """401: the key is wrong, expired or revoked."""


class ScopeError(APIError):
    """403: the key lacks the scope that the message names."""


class NotFoundError(APIError):
    """404: there is no such object."""


class ConflictError(APIError):
    """409: the object's state does not allow it."""


class VersionError(APIError):
    """412: the object was changed in the meantime; read it again."""


class RateLimitError(APIError):
    """429: too many requests, in spite of retries."""


class ServerError(APIError):
    """5xx: the server's fault."""


_CLASSES: dict[int, type[APIError]] = {
    401: AuthenticationError,
    403: ScopeError,
    404: NotFoundError,
    409: ConflictError,
    412: VersionError,
    429: RateLimitError,
}


def error_of(status: int, headers: email.message.Message, body: bytes) -> APIError:
    """What a response other than 2xx means."""
    message, errors = _parsed(body)
    told = [
        f"{each['param']}: {each['message']}" if each["param"] else each["message"]
        for each in errors
    ]
    usual = ServerError if status >= 500 else InvalidRequestError
    said = ": ".join(part for part in (message, "; ".join(told)) if part)
    return _CLASSES.get(status, usual)(
        said or f"the server responded with status {status}",
        status=status,
        errors=errors,
        request_id=headers.get("X-Request-Id"),
        retry_after_seconds=_seconds(headers.get("Retry-After")),
    )


def _parsed(body: bytes) -> tuple[str, list[ErrorItem]]:
    """Both styles of failures: with a list of errors, and with the first one alone."""
    try:
        found = json.loads(body)
    except ValueError:
        # A proxy before the server speaks for itself; the status has to do.
        return "", []
    if not isinstance(found, dict):
        return "", []
    if "code" in found:
        item = ErrorItem(
            code=str(found["code"]),
            message=str(found.get("message", "")),
            param=str(found.get("param", "")),
        )
        return "", [item]
    return str(found.get("message", "")), found.get("errors") or []


def _seconds(value: str | None) -> float | None:
    """What `Retry-After` says, as seconds or as a date."""
    if value is None:
        return None
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
