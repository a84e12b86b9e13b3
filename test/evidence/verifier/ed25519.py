"""Verifies Ed25519 signatures (RFC 8032, section 5.1.7), with the equation without cofactor, as WebCrypto does."""

from hashlib import sha512

P = 2**255 - 19
# The order of the base point.
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_ONE = pow(2, (P - 1) // 4, P)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    if len(public_key) != 32 or len(signature) != 64:
        return False
    point, commitment = decode(public_key), decode(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    # Without this limit, there would be a second signature of each message.
    if point is None or commitment is None or scalar >= L:
        return False
    # WebCrypto rejects these too. Anybody can sign for a key of small order.
    if has_small_order(point) or has_small_order(commitment):
        return False
    digest = sha512(signature[:32] + public_key + message).digest()
    factor = int.from_bytes(digest, "little") % L
    # R = S·B − k·A. The encoded points are compared, so R is accepted in one encoding only.
    x, y, z, t = point
    difference = add(multiply(scalar, BASE), multiply(factor, (-x % P, y, z, -t % P)))
    return encode(difference) == signature[:32]


def decode(data: bytes):
    """Returns the point in extended coordinates, or None if the bytes are no canonical encoding of a point."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * SQRT_MINUS_ONE % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def encode(point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def add(first, second):
    x1, y1, z1, t1 = first
    x2, y2, z2, t2 = second
    a = (y1 - x1) * (y2 - x2) % P
    b = (y1 + x1) * (y2 + x2) % P
    c = 2 * t1 * t2 * D % P
    d = 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def has_small_order(point):
    return encode(multiply(8, point)) == encode((0, 1, 1, 0))


def multiply(scalar: int, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
