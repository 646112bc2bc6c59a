"""Runs the delivery of Examples/FastAPI with a real PostgreSQL against servers that answer with everything that Apple or a
gateway may answer, or not at all. Prints what went wrong as one line of JSON.

Usage: fastapi-answers.py    Exit status: 0 if all is well, 1 otherwise.
"""

import asyncio
import datetime
import importlib.util
import json
import os
import pathlib
import shutil
import ssl
import sys
import tempfile
import time
import uuid

sys.dont_write_bytecode = True
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("drill", CHECKOUT / "Tests/Tools/Clients/fastapi-drill.py")
fastapi_drill = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fastapi_drill)

# Seconds after which a test that hangs fails.
PATIENCE = 300
NOW = int(time.time() * 1000)
HOUR = 3_600_000
GOOD = ("200", b"")


def reason(text, **more):
    return json.dumps({"reason": text} | more).encode()


# The response to one push, and the device and push afterwards. A device has two waiting pushes, of which the first is sent.
KEPT, GONE, REFUSED = "kept", "gone", "refused"
WAITS, DROPPED, DEAD, BOTH_DEAD = "waits", "dropped", "dead", "both dead"
RESPONSES = [
    ("accepted", "200", b"", KEPT, "sent"),
    ("unregistered", "410", reason("Unregistered", timestamp=NOW + HOUR), GONE, DROPPED),
    ("expired token", "410", reason("ExpiredToken", timestamp=NOW + HOUR), GONE, DROPPED),
    ("registered since", "410", reason("Unregistered", timestamp=NOW - HOUR), KEPT, WAITS),
    ("in seconds", "410", reason("Unregistered", timestamp=NOW // 1000), KEPT, WAITS),
    *(
        (f"410 with the time {value!r}", "410", reason("Unregistered", timestamp=value), KEPT, WAITS)
        for value in (None, str(NOW + HOUR), NOW + 0.5, True, 0, -1, 10**30, [NOW], {})
    ),
    ("410 without a time", "410", reason("Unregistered"), KEPT, WAITS),
    ("410 for another reason", "410", reason("Closed", timestamp=NOW + HOUR), KEPT, WAITS),
    ("bad token", "400", reason("BadDeviceToken"), REFUSED, BOTH_DEAD),
    ("another app's token", "400", reason("DeviceTokenNotForTopic"), REFUSED, BOTH_DEAD),
    ("a wrong request", "400", reason("BadPriority"), KEPT, DEAD),
    ("idle", "400", reason("IdleTimeout"), KEPT, WAITS),
    ("too large", "413", reason("PayloadTooLarge"), KEPT, DEAD),
    ("no such path", "404", reason("BadPath"), KEPT, DEAD),
    *((f"status {status}", str(status), reason("x"), KEPT, WAITS) for status in (308, 401, 403, 421, 429, 500, 502, 503, 504)),
    ("a reason with NUL", "400", reason("a\0b"), KEPT, DEAD),
    ("a reason of another type", "400", reason(["BadDeviceToken"]), KEPT, DEAD),
]


class Server:
    """An HTTP/2 server that answers each token as it is told."""

    def __init__(self, context):
        self._context = context
        self.answers, self.counts, self.connections = {}, {}, []
        # Tokens whose requests end the connection, and how.
        self.ends = {}

    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        return self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        import h2.config
        import h2.connection
        import h2.events

        self.connections.append(writer)
        made = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        made.initiate_connection()
        writer.write(made.data_to_send())
        try:
            while data := await reader.read(65536):
                for event in made.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        headers = {name.decode(): value.decode() for name, value in event.headers}
                        token = headers[":path"].rsplit("/", 1)[1]
                    elif isinstance(event, h2.events.StreamEnded):
                        self.counts[token] = self.counts.get(token, 0) + 1
                        self._answer(made, event.stream_id, token, headers["apns-id"])
                    elif isinstance(event, h2.events.DataReceived):
                        made.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                writer.write(made.data_to_send())
        except (ConnectionError, h2.exceptions.ProtocolError, ssl.SSLError):
            pass
        finally:
            writer.close()

    def _answer(self, made, stream, token, id):
        end = self.ends.get(token)
        if end == "GOAWAY":
            made.close_connection()
        elif end == "RST":
            made.reset_stream(stream)
        elif end != "silence":
            status, body = self.answers.get(token, GOOD)
            made.send_headers(stream, [(":status", status), ("apns-id", id)], end_stream=not body)
            if body:
                made.send_data(stream, body, end_stream=True)


def make_keys(folder):
    """Writes a certificate for localhost and a provider key, and returns the server's TLS context."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def pem(key):
        return key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
    (folder / "root.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key").write_bytes(pem(key))
    (folder / "provider.p8").write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "root.pem", folder / "server.key")
    context.set_alpn_protocols(["h2"])
    return context


class Answers:
    def __init__(self, drill, server, pool, delivery):
        self.drill, self.server, self.pool, self.delivery = drill, server, pool, delivery
        self.wrong, self.names = [], []

    def expect(self, what, found, wanted):
        if found != wanted:
            self.wrong.append(f"{what}: {found} instead of {wanted}")

    async def rows(self, statement, arguments=()):
        async with self.pool.connection() as db:
            found = await db.execute(statement, arguments)
            return await found.fetchall() if found.description else []

    async def device(self, environment="production", pushes=1):
        """Adds a device with waiting pushes, of which only the first is due. Returns its ID and token."""
        token = os.urandom(32).hex()
        [[id]] = await self.rows(
            """INSERT INTO sealed_push_device (account, enrollment, state, proven, token, environment, registered)
            VALUES ('alice', %s, '{}', true, %s, %s, extract(epoch FROM now()) * 1000) RETURNING id""",
            [token, token, environment],
        )
        for number in range(pushes):
            headers = {
                "apns-id": str(uuid.uuid4()), "apns-collapse-id": "x", "apns-priority": "10", "apns-topic": "com.example.app",
                "apns-expiration": str(int(time.time()) + 3600)}
            await self.rows(
                """INSERT INTO push (message, device, payload, headers, due)
                VALUES ((SELECT id FROM message), %s, '{"aps":{}}', %s, now() + make_interval(days => %s))""",
                [id, json.dumps(headers), number],
            )
        return id, token

    async def send(self, clients):
        await asyncio.wait_for(self.delivery._send_some(clients), PATIENCE)

    async def responses(self, module, clients):
        for name, status, body, token_becomes, push_becomes in RESPONSES:
            id, token = await self.device(pushes=2)
            self.server.answers[token] = (status, body)
            await self.send(clients)
            self.expect(f"{name}: requests", self.server.counts.get(token), 1)
            [[kept, token_refused]] = await self.rows("SELECT token IS NOT NULL, token_refused FROM sealed_push_device WHERE id = %s", [id])
            found = REFUSED if kept and token_refused else KEPT if kept else GONE
            self.expect(f"{name}: token", found, token_becomes)
            pushes = await self.rows(
                "SELECT refused IS NOT NULL, due > now() FROM push WHERE device = %s ORDER BY id", [id])
            found = {
                ((False, True), (False, True)): WAITS, ((True, False), (False, True)): DEAD, ((False, True),): "sent",
                (): DROPPED, ((True, True), (True, True)): BOTH_DEAD, ((True, True), (False, True)): DEAD,
            }.get(tuple(pushes), pushes)
            self.expect(f"{name}: pushes", found, push_becomes)
            await self.rows("DELETE FROM push")
        for answer in (("410", "Unregistered", None), ("410", "Unregistered", "soon"), ("421", "421", None)):
            verdicts = [module.judged(module.Answer(*answer), attempts)[0] for attempts in (1, 2, 3)]
            self.expect(f"{answer}: three attempts", verdicts, ["retry", "retry", "dead"])
        for attempts in range(1, 2000):
            for status in ("0", "403", "429", "500", "410", "421"):
                verdict, wait = module.judged(module.Answer(status, "x"), attempts)
                if verdict == "retry" and not 0 < wait <= 14400:
                    self.wrong.append(f"{status}, attempt {attempts}: {wait}")

    async def refusals(self, clients):
        """One wrong environment must not empty the table, and a stranger's tokens must not stop anyone's pushes."""
        # Nothing has been accepted yet.
        await self.rows("DELETE FROM sealed_push_device")
        made = [await self.device() for _ in range(250)]
        sandbox = await self.device("sandbox")
        self.server.answers.update((token, ("400", reason("BadDeviceToken"))) for _, token in made)
        for _ in range(5):
            await self.send(clients)
        self.expect("tokens", await self.rows("SELECT count(token) FROM sealed_push_device"), [(251,)])
        self.expect("refused tokens", await self.rows("SELECT count(token_refused) FROM sealed_push_device"), [(99,)])
        self.expect("waiting pushes", await self.rows("SELECT count(*) FROM push WHERE refused IS NULL"), [(151,)])
        self.expect("the other environment", self.server.counts.get(sandbox[1]), 1)
        self.expect("running environments", list(clients), ["sandbox"])

    async def strangers(self, clients):
        self.delivery._refused.clear()
        await self.rows("DELETE FROM sealed_push_device")
        _, token = await self.device()
        await self.send(clients)
        made = [await self.device() for _ in range(150)]
        self.server.answers.update((token, ("400", reason("BadDeviceToken"))) for _, token in made)
        _, later = await self.device()
        for _ in range(3):
            await self.send(clients)
        self.expect("after a stranger's tokens", self.server.counts.get(later), 1)
        self.expect("refused tokens", await self.rows("SELECT count(token_refused) FROM sealed_push_device"), [(150,)])

    async def hostile(self, clients):
        """After each fault, the push waits with its token, and the next one is sent."""
        page = b"<html><body>502 Bad Gateway</body></html>"
        for name in ("GOAWAY", "RST", "silence", "a page", "JSON that isn't an object"):
            await self.rows("DELETE FROM sealed_push_device")
            id, token = await self.device()
            self.server.ends[token] = name
            self.server.answers[token] = ("502", page) if name == "a page" else ("502", b"[1]")
            await self.send(clients)
            found = await self.rows(
                """SELECT token IS NOT NULL, token_refused, attempts, refused, due > now() FROM push, sealed_push_device AS device
                WHERE push.device = device.id AND device.id = %s""", [id])
            self.expect(f"{name}: push", found, [(True, None, 1, None, True)])
            _, next = await self.device()
            await self.send(clients)
            self.expect(f"{name}: the next push", self.server.counts.get(next), 1)
        await self.rows("DELETE FROM sealed_push_device")


async def run(drill, folder):
    server = Server(make_keys(folder))
    address = {
        "root": str(folder / "root.pem"), "port": await server.start(), "key": str(folder / "provider.p8"),
        "keyID": "ABCDE12345", "teamID": "FGHIJ67890"}
    (folder / "address.json").write_text(json.dumps(address))
    os.environ.update(LOCAL_APNS=str(folder / "address.json"), LEASE_SECONDS="6")
    sys.path.insert(0, str(CHECKOUT / "Examples/FastAPI"))
    import delivery
    from psycopg_pool import AsyncConnectionPool

    async with AsyncConnectionPool(f"host={drill.socket} user=chat dbname=postgres", open=False) as pool:
        answers = Answers(drill, server, pool, delivery.Delivery(pool))
        await answers.rows("INSERT INTO message VALUES (gen_random_uuid(), 'nina', 'alice', 'x')")

        def clients():
            return {name: delivery._client(name) for name in ("production", "sandbox")}

        await answers.refusals(clients())
        await answers.strangers(clients())
        await answers.responses(delivery, clients())
        await answers.hostile(clients())
        # Nobody listens there.
        (folder / "address.json").write_text(json.dumps(address | {"port": 1}))
        id, _ = await answers.device()
        await answers.send(clients())
        found = await answers.rows("SELECT attempts, refused FROM push WHERE device = %s", [id])
        answers.expect("unreachable: push", found, [(1, None)])
        for writer in server.connections:
            writer.close()
        return answers.wrong


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="answers"))
    folder.chmod(0o711)
    drill = fastapi_drill.Drill(".", folder, 0)
    try:
        drill.make_database()
        wrong = asyncio.run(run(drill, folder))
    finally:
        drill.stop_all()
        shutil.rmtree(folder)
    print(json.dumps({"wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
