"""Signed notes (C2SP signed-note), checkpoints (C2SP tlog-checkpoint), and proofs of a Merkle tree (RFC 6962)."""

import re
from hashlib import sha256

import ed25519
from canonical_json import NUMBER_MAX
from forms import base64_decode

KEY = re.compile(r"([!-*,-~]{1,512})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})")
SIGNATURE = re.compile(r"— ([!-*,-~]+) ([A-Za-z0-9+/=]+)\n")
SIZE = re.compile(r"[1-9][0-9]{0,15}")
ED25519 = b"\x01"


def read_key(text):
    """Returns the name, the id and the public key, or None if the text is no verifier key."""
    match = KEY.fullmatch(text)
    data = None if match is None else base64_decode(match[3])
    if data is None or len(data) != 33 or data[:1] != ED25519 or ed25519.decode(data[1:]) is None:
        return None
    identity = sha256(match[1].encode() + b"\n" + data).digest()[:4]
    return (match[1], identity, data[1:]) if identity.hex() == match[2] else None


def read_note(note, key):
    """Returns the text of a note with exactly one signature, which is by this key, or None."""
    name, identity, public_key = key
    text, separator, signature = note.rpartition("\n\n")
    match = SIGNATURE.fullmatch(signature)
    data = None if match is None else base64_decode(match[2])
    if separator == "" or data is None or match[1] != name or len(data) != 68 or data[:4] != identity:
        return None
    text += "\n"
    return text if ed25519.verify(public_key, text.encode(), data[4:]) else None


def read_checkpoint(note, key):
    """Returns the size and the root of the tree, or None if the note is no checkpoint of this key."""
    lines = (read_note(note, key) or "").split("\n")
    if len(lines) != 4 or lines[0] != key[0] or lines[3] != "" or not SIZE.fullmatch(lines[1]):
        return None
    root = base64_decode(lines[2])
    if root is None or len(root) != 32 or int(lines[1]) > NUMBER_MAX:
        return None
    return int(lines[1]), root


def compute_root(leaf: bytes, position: int, size: int, proof):
    """Returns the root to which a proof leads (RFC 9162, section 2.1.3.2), or None if it has another length."""
    root = sha256(b"\x00" + leaf).digest()
    number, last = position, size - 1
    for sibling in proof:
        if last == 0:
            return None
        if number & 1 or number == last:
            root = sha256(b"\x01" + sibling + root).digest()
            while number & 1 == 0 and number != 0:
                number, last = number >> 1, last >> 1
        else:
            root = sha256(b"\x01" + root + sibling).digest()
        number, last = number >> 1, last >> 1
    return root if last == 0 else None
