"""Reads leaves, each with exactly the members of its type (docs/evidence.md, "Leaves")."""

import re
from hashlib import sha256

import canonical_json
from forms import as_time, base64url, base64url_decode

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
CHAIN_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
DIGITS = re.compile(r"0|[1-9][0-9]{0,77}")
# What a leaf of the audit log may be for a payment.
AUDITED = {
    "grant.activated": "activated",
    "grant.suspended": "suspended",
    "agents.stopped": "suspended",
    "grant.revoked": "revoked",
}
KINDS = ["grant", "revocation", "resume", "owners", "withdrawal", "record"]
ACTORS = ["user", "key", "client", "operator"]


class LeafError(Exception):
    def __init__(self, part, reason):
        super().__init__(f"{part}: {reason}")
        self.part = part
        self.reason = reason


def is_text(value):
    return isinstance(value, str)


def is_one(value):
    return value == 1 and not isinstance(value, bool)


def is_status(value):
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 999


def is_time(value):
    return as_time(value) is not None


def is_mode(value):
    return value in ("test", "live", None)


def matches(pattern):
    return lambda value: is_text(value) and pattern.fullmatch(value) is not None


def is_bytes(length):
    return lambda value: len(base64url_decode(value) or b"") == length


def word(*words):
    return lambda value: value in words


def or_null(form):
    return lambda value: value is None or form(value)


is_address, is_chain_hash, is_digits = matches(ADDRESS), matches(CHAIN_HASH), matches(DIGITS)
is_sha256 = is_bytes(32)

COMMON = {
    "v": is_one,
    "type": is_text,
    "at": is_time,
    "workspace": is_text,
    "mode": is_mode,
    "subject": is_text,
    "salt": is_bytes(16),
}
MEMBERS = {
    "audit": {
        "actor_kind": word(*ACTORS),
        "actor": or_null(is_text),
        "action": is_text,
        "object": or_null(is_text),
        "details_hash": is_sha256,
    },
    "payment.decided": {
        "kind": word("transfer", "x402", "withdrawal"),
        "wallet": is_address,
        "agent": or_null(is_text),
        "grant": or_null(is_text),
        "to": is_address,
        "amount": is_digits,
        "max_per_payment": or_null(is_digits),
        "cap_24h": or_null(is_digits),
        "spent_24h": or_null(is_digits),
        "credential": or_null(is_text),
        "request": or_null(is_text),
        "nonce": or_null(is_chain_hash),
        "valid_before": or_null(is_time),
        "recovered_at": or_null(is_time),
        "memo_hash": or_null(is_sha256),
        "idempotency_key_hash": or_null(is_sha256),
    },
    "payment.ended": {
        "status": word("confirmed", "failed"),
        "failure_code": or_null(is_text),
        "tx_hash": or_null(is_chain_hash),
        "log_index": or_null(is_digits),
        "block": or_null(is_digits),
        "block_hash": or_null(is_chain_hash),
    },
    "purchase.answered": {
        "status": is_status,
        "delivery": word("delivered", "failed"),
        "protocol": word("x402_v2", "x402_v1", "mpp"),
        "method": is_text,
        "resource_url_hash": is_sha256,
        "response_sha256": or_null(is_sha256),
        "offer_hash": or_null(is_sha256),
        "receipt_hash": or_null(is_sha256),
    },
    "signature": {
        "kind": word(*KINDS),
        "object": is_text,
        "credential": is_text,
        "signature_sha256": is_sha256,
    },
    "unavailable": {"of": is_text},
}
# Their names end with `_hash`, but they are hashes of the chain, not of texts.
CHAIN_HASHES = {"tx_hash", "block_hash"}


def read_leaf(content, texts):
    """Returns the members of a leaf, after checking their forms and the texts. Raises LeafError."""
    try:
        values = canonical_json.parse(content.encode())
    except ValueError:
        raise LeafError("content", "is not canonical JSON") from None
    kind = values.get("type") if isinstance(values, dict) else None
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise LeafError("content", "is of no known type")
    forms = {**COMMON, **MEMBERS[kind]}
    if set(values) != set(forms):
        raise LeafError("content", "has other members than its type")
    for name, has_form in forms.items():
        if not has_form(values[name]):
            raise LeafError("content", f"has no valid {name}")
    check_texts(values, texts)
    return values


def check_texts(values, texts):
    hashed = {name[: -len("_hash")] for name in values if name.endswith("_hash") and name not in CHAIN_HASHES}
    if set(texts) != hashed:
        raise LeafError("texts", "are not those of the leaf")
    salt = base64url_decode(values["salt"])
    for name in (name[: -len("_hash")] for name in MEMBERS[values["type"]] if name[: -len("_hash")] in hashed):
        text, expected = texts[name], values[f"{name}_hash"]
        if text is None:
            continue
        digest = sha256(salt + name.encode() + b"\x00" + text.encode()).digest()
        if base64url(digest) != expected:
            raise LeafError(f"texts.{name}", "has another hash")
        if name == "details" and not is_canonical_object(text):
            raise LeafError("texts.details", "is no canonical JSON object")


def is_canonical_object(text):
    try:
        return isinstance(canonical_json.parse(text.encode()), dict)
    except ValueError:
        return False
