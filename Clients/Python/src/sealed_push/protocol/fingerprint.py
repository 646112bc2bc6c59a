"""Fingerprints of public keys (Specification, section 12)."""

import hashlib

# 12.5
WORDS = """
acorn album almond amber anchor apple artist atlas atom attic autumn azure bakery bamboo banana barrel basket
blazer bonus bottle bright broom brush burger cabin cactus carpet castle cello chalk chef clover cocoa coffee
comb cookie cotton cousin crayon cream crisp cube curry daisy dance decade desk dinner doctor domino drum duet
early echo edge elbow energy engine extra fabric falcon farmer ferret finch flag flute frost galaxy garlic
gentle gibbon glider goat grape green guitar hiking hinge hobby hornet humble icicle ideal igloo image indigo
input insect iron island ivory jaguar jazz jigsaw joker juice jumbo jungle kayak kiosk kitten kiwi koala label
ladder laptop large lava lemon letter lively local logic lucky magpie mango marble menu meteor mighty mirror
modern moss music nectar needle nephew newt nickel ninja noble nutmeg oasis ocelot office olive opera orange
orbit orchid outfit owner oxygen oyster ozone palace paper parrot pasta pebble pencil pickle pigeon pilot pink
pixel pizza planet poem poppy proud puzzle quaint quiver rabbit raisin rapid recipe relay reward rhythm robot
rocket salad sandal scarf school season shadow shovel shrimp signal silver simple skater sketch smooth snow
soccer soda sphere spiral spoon sprint square statue steady strong studio subway sugar summer sunset swamp
swift talent taxi teapot tennis thumb tiger tofu tomato topaz towel tripod trophy truck tulip tunnel turtle
twin umpire unit upbeat urban usual utmost valley vase vault velvet vessel violet vivid volume voyage waffle
wagon walrus wheat whisk window witty wizard wolf wombat wooden yacht yarn young zebra zenith zesty zigzag
zipper
""".split()


def fingerprint(kind: str, key: bytes) -> bytes:
    """Returns the fingerprint of a key (12.2)."""
    message = b"sealedpush/v1 fingerprint\0" + kind.encode("ascii") + b"\0" + key
    return hashlib.blake2b(message, digest_size=32).digest()


def digits(value: bytes) -> str:
    return " ".join("%05d" % (int.from_bytes(value[at : at + 5], "big") % 100000) for at in range(0, 30, 5))


def words(value: bytes) -> str:
    return " ".join(WORDS[byte] for byte in value[:12])
