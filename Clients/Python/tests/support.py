"""Shared by the tests: reading vectors, random generators, and enrolled phones."""

import functools
import os
import pathlib
import random

import sealed_push
from sealed_push.protocol import hpke, key_text
from sealed_push.testing import Phone

HERE = pathlib.Path(__file__).resolve()
# In a source distribution, the vectors are next to the tests.
VECTORS = next(path for path in (HERE.with_name("vectors"), HERE.parents[3] / "Tests" / "Vectors") if path.is_dir())
TOPIC = "com.example.app"
NINA = {"alert": {"title": "Nina", "body": "Lunch at one?"}}


def read_vectors(folder):
    """Returns the values of each vector by its name (Tests/Vectors/README.md)."""
    found = {}
    for path in sorted((VECTORS / folder).glob("*.txt")):
        lines = path.read_text(encoding="utf-8").split("\n")
        found[path.stem] = dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return found


def keys_of(values, name, kind):
    """Reads the keys of this name. Identities and recipients may be hybrid."""
    either = {key_text.IDENTITY: hpke.read_identity, key_text.RECIPIENT: key_text.recipient}
    read = either.get(kind, functools.partial(key_text.decode, kind))
    return [read(values[each]) for each in values if each.rstrip("0123456789") == name]


def seeded(test):
    """Returns a generator. A failure prints its seed; set SEED=... to repeat it."""
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(2**32)))
    test.addCleanup(lambda: _failed(test) and print(f"SEED={seed}"))
    return random.Random(seed)


def _failed(test):
    result = getattr(getattr(test, "_outcome", None), "result", None)
    wrong = [*getattr(result, "failures", []), *getattr(result, "errors", [])]
    return any(each is test for each, _ in wrong)


def enrolled(sender, phone=None):
    """Returns a phone that trusts the sender, and the server's device, with the phone's key proven."""
    phone = phone or Phone(topic=sender.topic)
    if sender.public_key not in phone.trusting:
        phone.trusting.append(sender.public_key)
    device = sealed_push.Device.enroll(phone.record, topic=phone.topic)
    device.answer(phone.answer(device.challenge(sender)))
    return phone, device


def phone_of(values, **options):
    """Returns the phone of a vector."""
    def texts(kind):
        return [values[name] for name in values if name.rstrip("0123456789") == kind]

    return Phone(topic=values["topic"], trusting=texts("sender"), identities=texts("identity"), **options)
