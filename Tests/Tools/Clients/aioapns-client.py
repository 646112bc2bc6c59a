"""Sends pushes with aioapns to a local APNs and prints the responses, one JSON object per line.

Usage: aioapns-client.py ADDRESS.JSON TOPIC COUNT [--own-context] TOKEN...
Sends COUNT notifications to the first token concurrently, and then one to each token.
"""

import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns import connection


async def main() -> None:
    arguments = [word for word in sys.argv[1:] if word != "--own-context"]
    with open(arguments[0]) as file:
        address = json.load(file)
    topic, count, tokens = arguments[1], int(arguments[2]), arguments[3:]
    with open(address["key"]) as file:
        key = file.read()
    context = ssl.create_default_context(cafile=address["root"])
    if "--own-context" not in sys.argv:
        context.set_alpn_protocols(["h2"])
    protocol = connection.APNsDevelopmentClientProtocol
    protocol.APNS_SERVER, protocol.APNS_PORT = "localhost", address["port"]
    client = APNs(
        key=key, key_id=address["keyID"], team_id=address["teamID"], topic=topic, use_sandbox=True,
        max_connections=1, ssl_context=context)

    async def send(token: str, number: int) -> None:
        request = NotificationRequest(
            device_token=token, message={"aps": {"alert": f"message {number}"}}, push_type=PushType.ALERT)
        result = await client.send_notification(request)
        print(json.dumps({
            "id": result.notification_id, "same": result.notification_id == request.notification_id,
            "status": result.status, "reason": result.description, "timestamp": result.timestamp}), flush=True)

    await send(tokens[0], 0)
    await asyncio.gather(*(send(tokens[0], number + 1) for number in range(count)))
    for token in tokens:
        await send(token, 0)


asyncio.run(asyncio.wait_for(main(), 60))
