"""Generates the worked examples in documents from the vectors, with plain Python, and compares them.

A document marks an example with the first line ```example NAME. To write them again after the vectors have changed:

    python3 -B Tests/Tools/Lint/examples.py
"""

import base64
import hashlib
import hmac
import json
import pathlib
import re

BLOCK = re.compile(r"^```example (.+)\n((?:.*\n)*?)```$", re.MULTILINE)
ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
PRIME = 2**255 - 19
KEM, HPKE = b"KEM\0\x20", b"HPKE\0\x20\0\x01\0\x03"


def example_blocks(tree):
    """The worked examples in documents are those that the vectors give."""
    marked = [(path, *block) for path, text in tree.files(ending=".md") for block in BLOCK.findall(text)]
    if not marked:
        return
    try:
        made = examples(tree.texts)
    except KeyError as error:
        yield marked[0][0], f"the examples can't be generated: no vector or value has the name {error}"
        return
    for path, name, text in marked:
        if made.pop(name, None) != text:
            yield path, f"run examples.py of Tests/Tools/Lint; the vectors don't give this example {name}"
    for name in made:
        yield "Docs/Specification.md", f"no document has the example {name}"


RULES = [(example_blocks, [{"Docs/A.md": "```example keys\nkey  00\n```\n"}])]


def examples(texts):
    """Returns the text of each example by its name."""
    message = vector(texts, "good-authenticated-padding-none")
    anonymous = vector(texts, "good-anonymous-padding-none")
    record = vector(texts, "Records/device-two-keys")
    challenge = vector(texts, "Records/challenge-answered")
    made = authenticated(message) | box(anonymous) | signed(record) | asked(challenge)
    words = texts["Tests/Vectors/Text/words.txt"].split()
    made["fingerprint"] = fingerprint("push", made["keys"]["pkR"], words)
    return {name: block(lines) for name, lines in made.items()}


def vector(texts, name):
    """Returns the values of a vector by their names."""
    lines = texts[f"Tests/Vectors/{name}.txt"].split("\n")
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def block(lines):
    """Returns lines of a name and a value. Long values continue below, and texts of keys don't."""
    width = max(len(name) for name in lines) + 2
    out = ""
    for name, value in lines.items():
        value = value.hex() if isinstance(value, bytes) else value
        step = 64 if len(value) > 90 or re.fullmatch("[0-9a-f]*", value) else len(value)
        for start in range(0, len(value), step):
            out += (name if start == 0 else "").ljust(width) + value[start : start + step] + "\n"
    return out


def authenticated(values):
    data = read(values, "sender-secret", "ephemeral-secret", "number-random", "number", "aad", "ciphertext", "tag")
    seed, ephemeral, random, number, aad, ciphertext, tag = data
    identity, sender, prk = bech32(values["identity"]), bech32(values["sender"]), extract(b"", seed)
    recipient = x25519(identity, base_point())
    keys = {
        "identity": values["identity"], "skR": identity, "recipient": bech32_text("push", recipient), "pkR": recipient,
        "sender seed": bech32_text("push-sender-secret-key-", seed).upper(), "seed": seed, "PRK": prk,
        "scalar = skS": derive(prk, "sealedpush/v1 sender scalar"), "sender": values["sender"], "pkS": sender,
        "skE": ephemeral, "enc = pkE": x25519(ephemeral, base_point()),
    }  # fmt: skip
    secret, schedule = context(identity, recipient, keys["scalar = skS"], sender, ephemeral, "sealedpush/v1", values["topic"])
    number_key = expand_labeled(HPKE, schedule["exporter_secret"], "sec", b"sealedpush/v1 number", 32)
    plaintext = bytes.fromhex(values["plaintext"])
    hints = {
        "r": random,
        "number": hashlib.blake2b(random + plaintext, digest_size=16, key=number_key).digest()[:12],
        "recipient hint": hint("recipient", 1, keys["enc = pkE"] + recipient),
        "sender hint": hint("sender", 1, keys["enc = pkE"] + recipient + sender),
    }
    envelope = aad + ciphertext + tag
    header_key = derive(prk, "sealedpush/v1 ids", values["topic"])
    id = json.loads(values["content"])["id"]
    collapse = hashlib.blake2b(b"collapse\0" + recipient + id.encode(), digest_size=16, key=header_key).digest()
    return {
        "keys": keys,
        "content": {"content": values["content"], "its bytes": str(len(values["content"])), "plaintext": plaintext},
        "shared secret": secret,
        "key schedule": schedule | {"number_key": number_key},
        "number and hints": hints,
        "sealing": {
            "nonce": bytes(a ^ b for a, b in zip(schedule["base_nonce"], number)), "header": aad, "ciphertext": ciphertext,
            "tag": tag,
        },
        "field": {"field": encode(envelope)} | lengths(envelope),
        "identifiers": {
            "K": header_key, "collapse ID, 16 bytes": collapse, "apns-collapse-id": encode(collapse),
            "apns-id": values["apns-id"],
            "ledger key": hashlib.blake2b(b"\x01" + recipient + sender + aad[9:], digest_size=32).digest(),
        },
    }  # fmt: skip


def context(identity, recipient, scalar, sender, ephemeral, label, topic):
    """Returns the shared secret and the key schedule, with the values on the way (3.4.2, 3.4.3)."""
    enc = x25519(ephemeral, base_point())
    if x25519(identity, enc) != x25519(ephemeral, recipient) or x25519(identity, sender) != x25519(scalar, recipient):
        raise KeyError("identity")
    secret = {"X25519(skE, pkR)": x25519(ephemeral, recipient), "X25519(skS, pkR)": x25519(scalar, recipient)}
    dh = b"".join(secret.values())
    secret |= {"kem_context": enc + recipient + sender, "eae_prk": extract_labeled(KEM, b"", "eae_prk", dh)}
    secret["shared_secret"] = expand_labeled(KEM, secret["eae_prk"], "shared_secret", secret["kem_context"], 32)
    info = label.encode() + b"\0" + topic.encode()
    made = {
        "info": info, "psk_id_hash": extract_labeled(HPKE, b"", "psk_id_hash", b""),
        "info_hash": extract_labeled(HPKE, b"", "info_hash", info),
    }  # fmt: skip
    whole = b"\x02" + made["psk_id_hash"] + made["info_hash"]
    made |= {"key_schedule_context": whole, "secret": extract_labeled(HPKE, secret["shared_secret"], "secret", b"")}
    for name, label, length in (("key", "key", 32), ("base_nonce", "base_nonce", 12), ("exporter_secret", "exp", 32)):
        made[name] = expand_labeled(HPKE, made["secret"], label, whole, length)
    return secret, made


def box(values):
    ephemeral, tag, ciphertext = read(values, "ephemeral-secret", "tag", "ciphertext")
    recipient, enc = x25519(bech32(values["identity"]), base_point()), x25519(ephemeral, base_point())
    header = b"\x02" + hint("recipient", 2, enc + recipient)
    sealed = enc + tag + ciphertext
    return {
        "sealed box": {
            "skE": ephemeral, "pkE": enc, "nonce": hashlib.blake2b(enc + recipient, digest_size=24).digest(),
            "X25519(skE, pkR)": x25519(ephemeral, recipient), "box_key": values["box-key"], "tag": tag, "ciphertext": ciphertext,
        },
        "anonymous field": {"header": header, "field": encode(header + sealed)} | lengths(header + sealed),
        "anonymous ledger key": {
            "ledger key": hashlib.blake2b(b"\x02" + recipient + sealed, digest_size=32).digest(),
        },
    }  # fmt: skip


def signed(values):
    text = values["record"].removeprefix("pushrecord.")
    data = decode(text)
    record, checksum = data[:-4], data[-4:]
    topic, signature = values["topic"].encode(), bytes.fromhex(values["signature"])
    start = 60 + len(topic)
    fields = {
        "type, version": record[:2], "signer": record[2:34], "counter": record[34:42], "created": record[42:50],
        "expires": record[50:58], "keeps": record[58:59], "topic": record[59:start], "n": record[start : start + 1],
        "key 1": record[start + 1 : start + 36], "key 2": record[start + 36 : -64], "signature": signature,
    }  # fmt: skip
    keys = [bech32(values["key"]), bech32(values["key2"])]
    numbers = [int.from_bytes(fields[name], "big") for name in ("counter", "created", "expires", "keeps")]
    expected = [int(values[name]) for name in ("counter", "created", "expires", "keeps")]
    if [fields["key 1"][3:], fields["key 2"][3:], numbers, fields["topic"][1:]] != [*keys, expected, topic]:
        raise KeyError("record")
    return {
        "enrollment": {
            "enrollment secret": values["signer-secret"], "secret bytes": bech32(values["signer-secret"]),
            "enrollment": values["pinned"], "public bytes": bech32(values["pinned"]), "recipient 1": values["key"],
            "recipient 2": values["key2"],
        },
        "record": {"bytes": str(len(record)), **fields},
        "record text": {
            "signed": b"sealedpush/v1 record\0" + record[:-64], "checksum": hashlib.sha256(record).digest()[:4],
            "text": "pushrecord." + encode(record + checksum),
        },
    }  # fmt: skip


def asked(values):
    random, ephemeral, number = read(values, "random", "ephemeral-secret", "number")
    recipient, enrollment = bech32(values["recipient"]), bech32(values["asked-enrollment"])
    scalar = derive(extract(b"", bech32(values["sender-secret"])), "sealedpush/v1 sender scalar")
    sender = x25519(scalar, base_point())
    secret, schedule = context(
        bech32(values["identity"]), recipient, scalar, sender, ephemeral, "sealedpush/v1 challenge", values["topic"])
    challenge = decode(values["challenge"].removeprefix("pushchallenge."))
    message = b"sealedpush/v1 answer\0" + recipient + enrollment
    answer = hashlib.blake2b(message, digest_size=32, key=random).digest()
    return {
        "challenge": {
            "r": random, "plaintext": random + enrollment, "skE": ephemeral, "enc = pkE": x25519(ephemeral, base_point()),
            "info": schedule["info"], "shared_secret": secret["shared_secret"], "key": schedule["key"],
            "base_nonce": schedule["base_nonce"], "number": number, "challenge": challenge, "text": values["challenge"],
        },
        "answer": {
            "message": message, "a": answer, "hash of a": hashlib.blake2b(answer, digest_size=32).digest(),
            "text": "pushanswer." + encode(answer),
        },
    }  # fmt: skip


def fingerprint(kind, key, words):
    start = b"sealedpush/v1 fingerprint\0" + kind.encode() + b"\0"
    value = hashlib.blake2b(start + key, digest_size=32).digest()
    groups = (int.from_bytes(value[place : place + 5], "big") % 100_000 for place in range(0, 30, 5))
    return {
        "key": bech32_text(kind, key), "input": start + key, "F": value,
        "digits": " ".join(f"{group:05}" for group in groups), "words": " ".join(words[each] for each in value[:6]),
        "": " ".join(words[each] for each in value[6:12]),
    }  # fmt: skip


# The parts


def read(values, *names):
    return [bytes.fromhex(values[name]) for name in names]


def lengths(envelope):
    text = len(encode(envelope))
    payload = {"aps": {"alert": "You have a new message!", "mutable-content": 1}, "custom-encrypted-message": ""}
    clear = len(json.dumps(payload, separators=(",", ":")))
    return {"bytes": f"envelope {len(envelope)}, text {text}, payload {clear + text}"}


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def extract(salt, data):
    return hmac.digest(salt or bytes(32), data, "sha256")


def expand(key, info, length):
    return hmac.digest(key, info + b"\x01", "sha256")[:length]


def extract_labeled(suite, salt, label, data):
    return extract(salt, b"HPKE-v1" + suite + label.encode() + data)


def expand_labeled(suite, key, label, info, length):
    return expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label.encode() + info, length)


def derive(prk, label, *texts):
    return expand(prk, label.encode() + b"\0" + b"".join(len(each).to_bytes(8, "big") + each.encode() for each in texts), 32)


def hint(kind, suite, keys):
    return hashlib.sha256(f"sealedpush/v1 {kind} hint".encode() + bytes([0, suite]) + keys).digest()[:4]


def base_point():
    return (9).to_bytes(32, "little")


def x25519(secret, public):
    """RFC 7748, section 5, not in constant time: these keys are public."""
    scalar = int.from_bytes(secret, "little") & ~7 & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(public, "little")
    x2, z2, x3, z3, swapped = 1, 0, u, 1, 0
    for place in reversed(range(255)):
        bit = scalar >> place & 1
        if bit != swapped:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swapped = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb = d * a % PRIME, c * b % PRIME
        aa, bb = a * a % PRIME, b * b % PRIME
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % PRIME, u * (da - cb) ** 2 % PRIME
        x2, z2 = aa * bb % PRIME, e * (aa + 121665 * e) % PRIME
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, -1, PRIME) % PRIME).to_bytes(32, "little")


def bech32(text):
    """Returns a key's 32 bytes, without checking them: the clients' tests do."""
    data = text.lower().rpartition("1")[2][:-6]
    number = 0
    for character in data:
        number = number << 5 | ALPHABET.index(character)
    return (number >> 5 * len(data) - 256).to_bytes(32, "big")


def bech32_text(kind, key):
    number = int.from_bytes(key, "big") << 4
    values = [number >> 5 * place & 31 for place in reversed(range(52))]
    state = 1
    for value in [ord(each) >> 5 for each in kind] + [0] + [ord(each) & 31 for each in kind] + values + [0] * 6:
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ value
        for place, constant in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            state ^= constant if top >> place & 1 else 0
    values += [(state ^ 1) >> place & 31 for place in range(25, -1, -5)]
    return kind + "1" + "".join(ALPHABET[value] for value in values)


def main():
    folder = pathlib.Path(__file__).resolve().parents[3]
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.glob("Tests/Vectors/**/*.txt")}
    made = examples(texts)
    for path in (*folder.glob("Docs/*.md"), *folder.glob("Tests/Vectors/**/README.md")):
        text = path.read_text(encoding="utf-8")
        path.write_text(BLOCK.sub(lambda match: f"```example {match[1]}\n{made[match[1]]}```", text), encoding="utf-8")


if __name__ == "__main__":
    main()
