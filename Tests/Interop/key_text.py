"""Keys of Sealed Push as text (Specification, section 8), and the rules of 3.2 and 3.3 for public keys."""

import hashlib

RECIPIENT, SENDER = "push", "pushsender"
IDENTITY, SENDER_SECRET = "push-secret-key-", "push-sender-secret-key-"
AUTHORITY, ENROLMENT = "pushauthority", "pushenrolment"
AUTHORITY_SECRET, ENROLMENT_SECRET = "push-authority-secret-key-", "push-enrolment-secret-key-"
SECRETS = (IDENTITY, SENDER_SECRET, AUTHORITY_SECRET, ENROLMENT_SECRET)

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)

PRIME = 2**255 - 19
# Of Ed25519 (RFC 8032, 5.1): L, and d of the curve's equation.
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME
LOW_ORDER = frozenset(
    bytes.fromhex(text)
    for text in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)


def is_public_key(key):
    """Whether 3.3.1 lets this public key pass."""
    return len(key) == 32 and int.from_bytes(key, "little") < PRIME and key not in LOW_ORDER


def is_signing_key(key):
    """Whether 8.6 lets this Ed25519 public key pass: canonical, on the curve, and L times the point is the identity."""
    y = int.from_bytes(key, "little") & (1 << 255) - 1
    if len(key) != 32 or y >= PRIME:
        return False
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if (x * x - square) % PRIME:
        return False
    if x & 1 != key[31] >> 7:
        x = -x % PRIME
    # Low order, the identity among it: 8 times the point is the identity.
    return _multiply(8, (x, y)) != (0, 1) and _multiply(ORDER, (x, y)) == (0, 1)


def key_id(public_key):
    return hashlib.sha256(public_key).digest()[:4]


def encode(kind, key):
    if len(key) != 32 or not _may_be(kind, key):
        raise ValueError("not a usable key")
    number = int.from_bytes(key, "big") << 4
    values = [number >> shift & 31 for shift in range(255, -1, -5)]
    checksum = _polymod(_expand(kind) + values + [0] * 6) ^ 1
    values += [checksum >> shift & 31 for shift in range(25, -1, -5)]
    text = kind + "1" + "".join(ALPHABET[value] for value in values)
    return text.upper() if kind in SECRETS else text


def decode(kind, text):
    """The 32 bytes of a key of this kind. The error never repeats the text (8.5)."""
    secret = kind in SECRETS
    if len(text) > 90 or not text.isascii() or text not in (text.upper(), text.lower()):
        raise ValueError("not a key: too long, or not in one case")
    if secret and text != text.upper():
        raise ValueError("not a key: a secret is written in capitals")
    found, separator, data = text.lower().rpartition("1")
    if not separator or found != kind or any(character not in ALPHABET for character in data):
        raise ValueError("not a key of the kind " + kind)
    values = [ALPHABET.index(character) for character in data]
    if _polymod(_expand(kind) + values) != 1:
        raise ValueError("not a key: wrong checksum")
    if len(values) != 58 or values[51] & 15:
        raise ValueError("not a key: not exactly 32 bytes")
    number = 0
    for value in values[:52]:
        number = number << 5 | value
    key = (number >> 4).to_bytes(32, "big")
    if not _may_be(kind, key):
        raise ValueError("not a key: a refused public key")
    return key


def _may_be(kind, key):
    """Whether 32 bytes may be a key of this kind; any may be a secret."""
    if kind in (RECIPIENT, SENDER):
        return is_public_key(key)
    return kind in SECRETS or is_signing_key(key)


def _multiply(number, point):
    """The point added to itself, on the Edwards curve."""
    result = (0, 1)
    while number:
        if number & 1:
            result = _add(result, point)
        point, number = _add(point, point), number >> 1
    return result


def _add(first, second):
    (x1, y1), (x2, y2) = first, second
    product = CURVE * x1 * x2 * y1 * y2 % PRIME
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, PRIME)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, PRIME)
    return x % PRIME, y % PRIME


def _expand(kind):
    return [ord(character) >> 5 for character in kind] + [0] + [ord(character) & 31 for character in kind]


def _polymod(values):
    checksum = 1
    for value in values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for index, constant in enumerate(GENERATOR):
            checksum ^= constant if top >> index & 1 else 0
    return checksum
