"""The forms of texts in evidence. Each function returns None for a text of another form."""

import base64
import re
from datetime import datetime, timezone

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
BASE64URL = re.compile(r"[A-Za-z0-9_-]*")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def as_time(text):
    """Returns the milliseconds since 1970."""
    if not isinstance(text, str) or not TIME.fullmatch(text):
        return None
    try:
        time = datetime.strptime(text[:-1] + "000+0000", "%Y-%m-%dT%H:%M:%S.%f%z")
    except ValueError:
        return None
    # Python accepts a 60th and 61st second.
    if time.strftime("%S") != text[17:19]:
        return None
    return round((time - EPOCH).total_seconds() * 1000)


def base64url_decode(text):
    """Decodes base64url without padding, in which unused bits are zero."""
    if not isinstance(text, str) or not BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if base64url(data) == text else None


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def base64_decode(text):
    """Decodes base64 with padding, in which unused bits are zero."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None
