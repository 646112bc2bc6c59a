"""The parts of ML-KEM-768 (FIPS 203) that the hybrid suite needs, from `cryptography` 48 or later."""

from ..errors import KeyTextError

try:
    from cryptography.hazmat.primitives.asymmetric import mlkem as _library
except ImportError:
    _library = None  # type: ignore[assignment]

PUBLIC, CIPHERTEXT = 1184, 1088


def is_available() -> bool:
    return _library is not None


def require() -> None:
    if not is_available():
        raise KeyTextError("unsupported")


def is_key(key: bytes) -> bool:
    """Whether each of 768 coefficients of 12 bits is below 3329 (FIPS 203, 7.2)."""
    if len(key) != PUBLIC:
        return False
    number = int.from_bytes(key[:-32], "little")
    return all((number >> shift & 0xFFF) < 3329 for shift in range(0, 768 * 12, 12))


def public_key(seed: bytes) -> bytes:
    require()
    return _library.MLKEM768PrivateKey.from_seed_bytes(seed).public_key().public_bytes_raw()


def encapsulate(key: bytes) -> tuple[bytes, bytes]:
    """Returns a new shared secret and its ciphertext."""
    require()
    secret, ciphertext = _library.MLKEM768PublicKey.from_public_bytes(key).encapsulate()
    return secret, ciphertext


def decapsulate(seed: bytes, ciphertext: bytes) -> bytes:
    require()
    return _library.MLKEM768PrivateKey.from_seed_bytes(seed).decapsulate(ciphertext)
