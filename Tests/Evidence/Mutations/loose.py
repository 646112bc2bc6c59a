"""Verifies Ed25519 signatures with one of the checks of Specification 11.2.3 missing. Copied into a broken client."""

import hashlib

import nacl.exceptions

PRIME, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT = pow(2, (PRIME - 1) // 4, PRIME)


def verify(signer, message, signature, low_order=False, large_s=False, cofactor=False):
    first, s = signature[:32], int.from_bytes(signature[32:], "little")
    digest = int.from_bytes(hashlib.sha512(first + signer + message).digest(), "little") % ORDER
    point, key = decode(first), decode(signer)
    is_right = point is not None and key is not None and (large_s or s < ORDER)
    is_right = is_right and (low_order or not is_neutral(times(8, point)))
    if is_right:
        difference = add(times(s, BASE), negative(add(point, times(digest, key))))
        is_right = is_neutral(times(8, difference) if cofactor else difference)
    if not is_right:
        raise nacl.exceptions.BadSignatureError


def decode(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    x = x if x * x % PRIME == square else x * ROOT % PRIME
    if y >= PRIME or x * x % PRIME != square:
        return None
    return (x if x & 1 == sign else -x % PRIME, y)


def add(one, other):
    product = D * one[0] * other[0] * one[1] * other[1]
    x = (one[0] * other[1] + other[0] * one[1]) * pow(1 + product, -1, PRIME) % PRIME
    return x, (one[1] * other[1] + one[0] * other[0]) * pow(1 - product, -1, PRIME) % PRIME


def times(number, point):
    total = (0, 1)
    while number:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def negative(point):
    return -point[0] % PRIME, point[1]


def is_neutral(point):
    return point == (0, 1)


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


BASE = decode((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little"))
