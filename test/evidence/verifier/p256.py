"""Verifies ECDSA signatures on the curve P-256 with SHA-256 (FIPS 186-5, section 6.4.2)."""

from hashlib import sha256

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
GENERATOR = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
# What precedes the two coordinates in the only SPKI in DER that a key with an uncompressed point has.
SPKI_PREFIX = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200" "04")


def read_public_key(spki: bytes):
    """Returns the point of a public key, or None if it is no point of the curve."""
    if len(spki) != len(SPKI_PREFIX) + 64 or not spki.startswith(SPKI_PREFIX):
        return None
    x, y = int.from_bytes(spki[-64:-32], "big"), int.from_bytes(spki[-32:], "big")
    # The point at infinity has no such encoding, and the curve has no other points of small order.
    if x >= P or y >= P or (y * y - (x * x * x - 3 * x + B)) % P != 0:
        return None
    return (x, y)


def read_signature(der: bytes):
    """Returns the two integers of a signature, or None if it is not in DER (X.690)."""
    if len(der) < 2 or der[0] != 0x30 or der[1] != len(der) - 2 or der[1] >= 0x80:
        return None
    first, rest = read_integer(der[2:])
    second, rest = read_integer(rest)
    return None if first is None or second is None or rest != b"" else (first, second)


def read_integer(der: bytes):
    if len(der) < 3 or der[0] != 0x02 or not 1 <= der[1] <= 33 or len(der) < 2 + der[1]:
        return None, b""
    digits = der[2 : 2 + der[1]]
    is_negative = digits[0] >= 0x80
    is_longer_than_needed = len(digits) > 1 and digits[0] == 0 and digits[1] < 0x80
    if is_negative or is_longer_than_needed:
        return None, b""
    return int.from_bytes(digits, "big"), der[2 + der[1] :]


def verify(point, message: bytes, der: bytes) -> bool:
    signature = read_signature(der)
    if signature is None:
        return False
    r, s = signature
    if not (1 <= r < N and 1 <= s < N):
        return False
    digest = int.from_bytes(sha256(message).digest(), "big")
    inverse = pow(s, -1, N)
    x, _, z = multiply_two(digest * inverse % N, GENERATOR, r * inverse % N, point)
    if z == 0:
        return False
    return x * pow(z, -2, P) % P % N == r


def multiply_two(first: int, one, second: int, other):
    """Returns first · one + second · other in Jacobian coordinates, bit by bit for both at once."""
    one, other = (*one, 1), (*other, 1)
    sums = {(1, 0): one, (0, 1): other, (1, 1): add(one, other)}
    result = (1, 1, 0)
    for bit in reversed(range(256)):
        result = double(result)
        bits = (first >> bit & 1, second >> bit & 1)
        if bits != (0, 0):
            result = add(result, sums[bits])
    return result


def double(point):
    x, y, z = point
    if z == 0 or y == 0:
        return (1, 1, 0)
    delta, gamma = z * z % P, y * y % P
    beta, alpha = x * gamma % P, 3 * (x - delta) * (x + delta) % P
    x3 = (alpha * alpha - 8 * beta) % P
    z3 = ((y + z) ** 2 - gamma - delta) % P
    return (x3, (alpha * (4 * beta - x3) - 8 * gamma * gamma) % P, z3)


def add(first, second):
    x1, y1, z1 = first
    x2, y2, z2 = second
    if z1 == 0:
        return second
    if z2 == 0:
        return first
    square1, square2 = z1 * z1 % P, z2 * z2 % P
    u1, u2 = x1 * square2 % P, x2 * square1 % P
    s1, s2 = y1 * square2 * z2 % P, y2 * square1 * z1 % P
    if u1 == u2:
        return double(first) if s1 == s2 else (1, 1, 0)
    h, r = u2 - u1, s2 - s1
    h2 = h * h % P
    h3, v = h2 * h % P, u1 * h2 % P
    x3 = (r * r - h3 - 2 * v) % P
    return (x3, (r * (v - x3) - s1 * h3) % P, h * z1 * z2 % P)
