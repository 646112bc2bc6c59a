#!/usr/bin/env python3
"""Seals and opens with a Python package's HPKE, for Scripts/special/bench-hpke. compare.py describes the lines that it reads
and writes. Usage: peer.py pyhpke|cryptography|hybrid-pke auth|base"""

import sys
import time


def pyhpke(mode, recipient_secret, recipient, sender_secret, sender, info, plaintext):
    import pyhpke

    suite = pyhpke.CipherSuite.new(
        pyhpke.KEMId.DHKEM_X25519_HKDF_SHA256, pyhpke.KDFId.HKDF_SHA256, pyhpke.AEADId.CHACHA20_POLY1305)
    private, public = suite.kem.deserialize_private_key, suite.kem.deserialize_public_key
    recipient_secret, recipient = private(recipient_secret), public(recipient)
    sender_secret, sender = (private(sender_secret), public(sender)) if mode == "auth" else (None, None)

    def seal():
        enc, context = suite.create_sender_context(recipient, info, sks=sender_secret)
        return enc, context.seal(plaintext)

    def open(enc, ciphertext):
        return suite.create_recipient_context(enc, recipient_secret, info, pks=sender).open(ciphertext)

    return seal, open


def cryptography(mode, recipient_secret, recipient, sender_secret, sender, info, plaintext):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

    if mode != "base":
        sys.exit("cryptography has no mode_auth")
    suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
    recipient_secret = X25519PrivateKey.from_private_bytes(recipient_secret)
    recipient = X25519PublicKey.from_public_bytes(recipient)

    # Its ciphertext begins with the encapsulated key.
    def seal():
        message = suite.encrypt(plaintext, recipient, info)
        return message[:32], message[32:]

    def open(enc, ciphertext):
        return suite.decrypt(enc + ciphertext, recipient_secret, info)

    return seal, open


def hybrid_pke(mode, recipient_secret, recipient, sender_secret, sender, info, plaintext):
    import hybrid_pke

    hpke = hybrid_pke.Hpke(
        hybrid_pke.Mode.AUTH if mode == "auth" else hybrid_pke.Mode.BASE, hybrid_pke.Kem.DHKEM_X25519,
        hybrid_pke.Kdf.HKDF_SHA256, hybrid_pke.Aead.CHACHA20_POLY1305)
    mine = {"sk_s": sender_secret} if mode == "auth" else {}
    theirs = {"pk_s": sender} if mode == "auth" else {}

    def seal():
        return hpke.seal(recipient, info, b"", plaintext, **mine)

    def open(enc, ciphertext):
        return hpke.open(enc, recipient_secret, info, b"", ciphertext, **theirs)

    return seal, open


LIBRARIES = {"pyhpke": pyhpke, "cryptography": cryptography, "hybrid-pke": hybrid_pke}


def average(count, work):
    """Returns the average CPU time of a call, in microseconds."""
    start = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - start) * 1e6 / count


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in LIBRARIES or sys.argv[2] not in ("auth", "base"):
        sys.exit(__doc__)
    seal, open = LIBRARIES[sys.argv[1]](sys.argv[2], *map(bytes.fromhex, sys.stdin.readline().split()))
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "seal":
            print(*(part.hex() for part in seal()), flush=True)
        elif command == "open":
            try:
                print(open(*map(bytes.fromhex, arguments)).hex(), flush=True)
            except Exception:  # each package raises its own error for a wrong tag
                print("refused", flush=True)
        elif command == "time":
            count, message = int(arguments[0]), seal()
            print(average(count, seal), average(count, lambda: open(*message)), flush=True)


main()
