"""Reads and writes the canonical JSON (RFC 8785) of evidence: its numbers are whole and not negative."""

import json
import re

NUMBER_MAX = 2**53 - 1
NESTING_MAX = 32
# A text, or the beginning or the end of a list or an object.
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def parse(data: bytes):
    """Returns the value. Raises ValueError unless the bytes are canonical JSON in UTF-8."""
    value = parse_any(data, parse_float=reject)
    if canonical(value) != data:
        raise ValueError("not canonical JSON")
    return value


def parse_unique(data: bytes):
    """Returns the value of any JSON in UTF-8 in which no member occurs twice."""
    # Python reads no whole numbers of more than 4,300 digits.
    return parse_any(data, object_pairs_hook=to_object, parse_int=float)


def canonical(value) -> bytes:
    # A lone surrogate has no UTF-8, so it raises UnicodeEncodeError, which is a ValueError.
    return write(value).encode("utf-8")


def parse_any(data: bytes, **hooks):
    text = data.decode("utf-8")
    level = 0
    for match in PART.finditer(text):
        level += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if level > NESTING_MAX:
            raise ValueError("nested too deeply")
    return json.loads(text, parse_constant=reject, **hooks)


def write(value) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if not 0 <= value <= NUMBER_MAX:
            raise ValueError("a number is too large or negative")
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    # RFC 8785 sorts by UTF-16 code units.
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(write(name) + ":" + write(value[name]) for name in names) + "}"


def to_object(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a member occurs twice")
    return dict(pairs)


def reject(text):
    raise ValueError(f"{text} is no whole number")
