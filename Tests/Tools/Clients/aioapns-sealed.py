"""Seals full pushes with Clients/Python, sends them with aioapns as its README shows, and prints one JSON object per line.

Usage: aioapns-sealed.py ADDRESS.JSON TOPIC TOKEN
The first push reserves six bytes for the spaces that aioapns adds; the second reserves none.
"""

import asyncio
import json
import pathlib
import re
import ssl
import sys

sys.dont_write_bytecode = True
CLIENT = pathlib.Path(__file__).resolve().parents[3] / "Clients" / "Python"
sys.path.insert(0, str(CLIENT / "src"))

import sealed_push  # noqa: E402
from aioapns import APNs, connection  # noqa: E402
from sealed_push.testing import Phone  # noqa: E402


async def main() -> None:
    with open(sys.argv[1]) as file:
        address = json.load(file)
    topic, token = sys.argv[2:]
    with open(address["key"]) as file:
        key = file.read()
    context = ssl.create_default_context(cafile=address["root"])
    context.set_alpn_protocols(["h2"])
    protocol = connection.APNsDevelopmentClientProtocol
    protocol.APNS_SERVER, protocol.APNS_PORT = "localhost", address["port"]
    client = APNs(
        key=key, key_id=address["keyID"], team_id=address["teamID"], topic=topic, use_sandbox=True,
        max_connections=1, ssl_context=context)
    blocks = re.findall(r"```python\n(.*?)```", (CLIENT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    readme = {}
    exec(next(block for block in blocks if "aioapns" in block), readme)

    (recipient,) = Phone(topic=topic).recipients
    for reserve in (6, 0):
        secret = sealed_push.generate_sender_secret()
        sender = sealed_push.Sender(secret, topic=topic, padding="full", reserve=reserve)
        content = {"alert": {"body": "Lunch at one?"}, "expires": 253402300799}
        push = sender.seal_unverified(content, recipient)
        result = await client.send_notification(readme["request"](token, push))
        print(json.dumps({
            "reserve": reserve, "bytes": len(push.payload), "status": result.status, "reason": result.description,
            "same": result.notification_id == push.headers["apns-id"]}), flush=True)


asyncio.run(asyncio.wait_for(main(), 60))
