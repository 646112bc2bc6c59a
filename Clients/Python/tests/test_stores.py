"""The stores: compare-and-set, and many requests at once, of which none may be lost."""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from dataclasses import replace

import sealed_push
from sealed_push import Device, Sender, SettingError
from sealed_push.router import Entry, Found
from sealed_push.sqlite import SQLiteStore

try:
    import psycopg
except ImportError:
    psycopg = None

from .backends import Client, MemoryStore, database, django, over_asgi, over_django, phone_for, postgres_store, router_of, sqlite_store
from .support import TOPIC, seeded

SENDER = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)


def entry(account, proven=False, token="ab", time=1000):
    phone = phone_for(SENDER)
    device = Device.enroll(phone.record, topic=TOPIC)
    if proven:
        device.answer(phone.answer(device.challenge(SENDER)))
    return phone.enrollment, Entry(account, device.to_dict(), token, "production", time)


class Stores:
    """The tests of each store."""

    over = staticmethod(over_asgi)

    def setUp(self):
        self.store = self.make(self)

    def put(self, enrollment, account, *entries):
        found = self.store.load(enrollment, account)
        self.assertIs(self.store.save(enrollment, account, found, entries), True)

    def test_saves_and_loads(self):
        enrollment, alice = entry("alice")
        _, bob = entry("bob")
        self.assertEqual(self.store.load(enrollment, "alice"), Found((), 0))
        self.put(enrollment, "alice", alice)
        self.assertEqual(self.store.load(enrollment, "alice"), Found((alice,), 0))
        self.put(enrollment, "bob", bob, alice)
        self.assertEqual(self.store.load(enrollment, None), Found((alice, bob), 0))
        self.assertEqual(self.store.load("another", "alice"), Found((), 1))
        changed = replace(alice, token=None, environment="sandbox", registered_milliseconds=5)
        self.put(enrollment, None, changed)
        self.assertEqual(self.store.load(enrollment, None), Found((changed,), 0))
        self.put(enrollment, "alice")
        self.assertEqual(self.store.load(enrollment, "alice"), Found((), 0))
        odd = replace(alice, account="a'b\"%s?\N{PILE OF POO}")
        self.put(enrollment, odd.account, odd)
        self.assertEqual(self.store.load(enrollment, odd.account), Found((odd,), 0))

    def test_a_stale_save_changes_nothing(self):
        enrollment, alice = entry("alice")
        other, second = entry("alice")
        empty = self.store.load(enrollment, "alice")
        self.put(enrollment, "alice", alice)
        now = self.store.load(enrollment, "alice")
        stale = [
            empty, replace(now, others=1), Found((replace(alice, token="cd"),), 0), Found((replace(alice, registered_milliseconds=1),), 0),
            Found((replace(alice, state=alice.state | {"proven": ["x"]}),), 0), Found((alice, replace(alice, account="bob")), 0),
        ]  # fmt: skip
        for found in stale:
            for entries in ((), (replace(alice, token="ef"),)):
                self.assertIs(self.store.save(enrollment, "alice", found, entries), False)
        self.assertEqual(self.store.load(enrollment, "alice"), now)
        # Another device of the account counts, too.
        self.put(other, "alice", second)
        self.assertIs(self.store.save(enrollment, "alice", now, ()), False)
        self.assertEqual(self.store.load(enrollment, "alice"), Found((alice,), 1))

    def test_many_requests_for_one_phone(self):
        """Registrations with their own tokens, and answers for each key, all at once."""
        client, phone = Client(router_of(SENDER, self.store), self.over), phone_for(SENDER)
        for _ in range(5):
            phone.rotate()
        asked = client.register(phone).json["challenges"]
        self.assertEqual(len(asked), 6)
        tokens = [f"{number:04x}" for number in range(8)]

        def register(token):
            # Its challenges may push out earlier ones; the device keeps 16.
            answer = client.register(phone, token=token)
            return answer.status == 200 and all(client.reply(phone, each).status in (204, 409) for each in answer.json["challenges"])

        work = [lambda token=token: register(token) for token in tokens]
        work += [lambda each=each: client.reply(phone, each).status in (204, 409) for each in asked]
        self.assertEqual(together(work), [True] * len(work))
        stored, = self.store.load(phone.enrollment, "alice").entries
        self.assertIn(stored.token, tokens)
        before = set(Device.from_dict(stored.state).proven)
        # Each answer that got 204 counts, whatever else was stored at the same time.
        final = client.register(phone).json["challenges"]
        replies = together([lambda each=each: client.reply(phone, each).status for each in final])
        self.assertEqual(set(replies) | {204}, {204})
        stored, = self.store.load(phone.enrollment, "alice").entries
        self.assertEqual(len(Device.from_dict(stored.state).proven), 6)
        self.assertLessEqual(before, set(Device.from_dict(stored.state).proven))

    def test_answers_at_once_are_all_kept(self):
        client, phone = Client(router_of(SENDER, self.store), self.over), phone_for(SENDER)
        for _ in range(11):
            phone.rotate()
        asked = client.register(phone).json["challenges"]
        statuses = together([lambda each=each: client.reply(phone, each).status for each in asked])
        self.assertEqual(statuses, [204] * 12)
        stored, = self.store.load(phone.enrollment, "alice").entries
        self.assertEqual(len(Device.from_dict(stored.state).proven), 12)

    def test_one_of_two_accounts_proves_a_phone(self):
        client = Client(router_of(SENDER, self.store), self.over)
        for _ in range(10):
            phone, accounts = phone_for(SENDER), ("alice", "bob", "carol")
            asked = {each: client.register(phone, each).json["challenges"][0] for each in accounts}
            said = together([lambda each=each: client.reply(phone, asked[each], each) for each in accounts])
            self.assertEqual(sorted(each.status for each in said)[0], 204)
            self.assertEqual(sum(each.status == 204 for each in said), 1, said)
            self.assertLessEqual({each.code for each in said}, {None, "enrolled-elsewhere", "unknown-device"})
            self.assertEqual(len(self.store.load(phone.enrollment, None).entries), 1)

    def test_no_more_devices_than_allowed(self):
        client = Client(router_of(SENDER, self.store), self.over)
        for _ in range(95):
            enrollment, each = entry("alice")
            self.put(enrollment, "alice", each)
        phones = [phone_for(SENDER) for _ in range(12)]
        statuses = together([lambda phone=phone: client.register(phone).status for phone in phones])
        self.assertEqual(sorted(statuses), [200] * 5 + [409] * 7)
        self.assertEqual(self.store.load("another", "alice").others, 100)

    def test_leavings_and_logins_at_once(self):
        client, draw = Client(router_of(SENDER, self.store), self.over), seeded(self)
        for _ in range(6):
            phone = phone_for(SENDER)
            self.assertEqual(client.enroll(phone).status, 204)
            text, account = phone.leave(), draw.choice(["alice", "bob"])
            leave = lambda: client.insist("POST", "/v1/leavings", {"leaving": text}, None).status
            together([leave, leave, lambda: client.enroll(phone, account).status, leave])
            # Until the phone has left, another account can't have it. Afterwards, its newer record stays.
            self.assertEqual(client.enroll(phone, account).status in (200, 204), True)
            self.assertEqual(leave(), 204)
            self.assertEqual([each.account for each in self.store.load(phone.enrollment, None).entries], [account])


def together(work):
    """Calls all functions at once, in threads. Returns their results."""
    barrier, results = threading.Barrier(len(work)), [None] * len(work)

    def run(place):
        barrier.wait()
        results[place] = work[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class InMemory(Stores, unittest.TestCase):
    """Shows that the tests need no more than the compare-and-set."""

    make = staticmethod(lambda test: MemoryStore())


class Databases(Stores):
    def test_an_app_that_was_installed_again_replaces_its_device(self):
        old, first = entry("alice", proven=True)
        foreign, other = entry("bob", proven=True)
        new, second = entry("alice")
        for enrollment, each in ((old, first), (foreign, other), (new, second)):
            self.put(enrollment, each.account, each)
        self.assertEqual(self.store.load(old, None).entries, (first,), "an unproven claim replaces nothing")
        device = entry("alice", proven=True)[1]
        self.put(new, "alice", replace(second, state=device.state))
        self.assertEqual(self.store.load(old, None).entries, ())
        self.assertEqual(self.store.load(foreign, None).entries, (other,))

    def test_devices_to_seal_to(self):
        made = {name: entry("alice", **options) for name, options in {
            "good": {"proven": True, "token": "aa"}, "unproven": {"token": "bb"}, "gone": {"proven": True, "token": None},
            "refused": {"proven": True, "token": "dd"}}.items()}  # fmt: skip
        made["bob's"] = entry("bob", proven=True)
        for enrollment, each in made.values():
            self.put(enrollment, each.account, each)
        self.store.execute("UPDATE sealed_push_device SET token_refused = 'BadDeviceToken' WHERE token = 'dd'")
        self.assertEqual(self.devices("alice"), [made["good"][1]])
        # An answer doesn't make a refused token good, but the app's next launch does.
        enrollment, refused = made["refused"]
        self.put(enrollment, "alice", replace(refused, state=refused.state | {"challenges": []}))
        self.assertEqual(len(self.devices("alice")), 1)
        self.put(enrollment, "alice", replace(refused, registered_milliseconds=1001))
        self.assertEqual({each.token for each in self.devices("alice")}, {"aa", "dd"})
        device = Device.from_dict(self.devices("alice")[0].state)
        self.assertTrue(SENDER.seal({"alert": {"body": "b"}}, device))

    def devices(self, account):
        return self.store.devices(account)

    def test_what_a_table_refuses(self):
        enrollment, alice = entry("alice", proven=True)
        self.put(enrollment, "alice", alice)
        for assignment in ("token = 'not hex'", "token = ''", "environment = 'x'", "state = NULL", "account = NULL"):
            with self.assertRaises(Exception):
                self.store.execute(f"UPDATE sealed_push_device SET {assignment}")
        columns = "account, enrollment, state, proven, token, environment, registered"
        with self.assertRaises(Exception, msg="two accounts"):
            self.store.execute(f"INSERT INTO sealed_push_device ({columns}) SELECT 'bob', {columns[9:]} FROM sealed_push_device")
        self.assertEqual(self.store.load(enrollment, None).entries, (alice,))


class InSQLite(Databases, unittest.TestCase):
    make = staticmethod(sqlite_store)

    def test_another_process(self):
        enrollment, alice = entry("alice")
        self.put(enrollment, "alice", alice)
        again = SQLiteStore(self.store._path)
        self.assertEqual(again.load(enrollment, "alice"), Found((alice,), 0))
        code = f"""
            import sys; sys.path[:] = {sys.path!r}
            from sealed_push.sqlite import SQLiteStore
            store = SQLiteStore({str(self.store._path)!r})
            found = store.load({enrollment!r}, 'alice')
            print(len(found.entries), store.save({enrollment!r}, 'alice', found, ()))
        """
        program = "\n".join(line.strip() for line in code.splitlines())
        said = subprocess.run([sys.executable, "-B", "-c", program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, "1 True\n")
        self.assertEqual(self.store.load(enrollment, "alice"), Found((), 0))

    def test_a_file_that_is_locked_or_damaged(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x")
            path.write_bytes(b"not a database" * 100)
            with self.assertRaises(Exception):
                SQLiteStore(path)
        client, phone = Client(router_of(SENDER, self.store)), phone_for(SENDER)
        pathlib.Path(self.store._path).write_bytes(b"not a database" * 1000)
        with self.assertLogs("sealed_push", "ERROR"):
            body = {"record": phone.record, "token": "ab", "environment": "sandbox"}
            self.assertEqual(client.send("PUT", f"/v1/phones/{phone.enrollment}", body).code, "unavailable")


def setUpModule():
    global has_database
    try:
        has_database = bool(database())
    except unittest.SkipTest:
        has_database = False


class InPostgreSQL(Databases, unittest.TestCase):
    make = staticmethod(postgres_store)
    over = staticmethod(over_django if django else over_asgi)

    def setUp(self):
        if not has_database:
            self.skipTest("needs PostgreSQL and psycopg")
        super().setUp()

    def test_a_stricter_isolation_level(self):
        """The store doesn't depend on the default of the role or of the database."""
        self.store = self.make(self, " options='-c default_transaction_isolation=serializable'")
        self.assertEqual(self.store.execute("SHOW transaction_isolation"), [("serializable",)])
        self.test_answers_at_once_are_all_kept()
        self.test_one_of_two_accounts_proves_a_phone()

    def test_a_row_that_changes_during_a_save(self):
        """As when the code that sends has just learned that the token is gone."""
        enrollment, alice = entry("alice")
        self.put(enrollment, "alice", alice)
        found, results = self.store.load(enrollment, "alice"), []
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        with psycopg.connect(database()) as db:
            db.execute("UPDATE sealed_push_device SET token = NULL")
            changed = replace(alice, state=alice.state | {"challenges": []}, environment="sandbox")
            save = lambda: results.append(self.store.save(enrollment, "alice", found, (changed,)))
            thread = threading.Thread(target=save)
            thread.start()
            while thread.is_alive() and self.store.execute(waits) == [(0,)]:
                pass
        thread.join()
        self.assertEqual(results, [False])
        self.assertEqual(self.store.load(enrollment, "alice").entries, (replace(alice, token=None),))

    def test_the_schema_is_printed(self):
        from sealed_push import postgres

        said = subprocess.run(
            [sys.executable, "-B", "-m", "sealed_push.postgres"], check=True, capture_output=True, text=True,
            env={"PYTHONPATH": sys.path[0]}).stdout
        self.assertEqual(said, postgres.schema())

    def test_malformed_addresses_are_not_repeated(self):
        from sealed_push import postgres

        good = ["postgres://chat:x@127.0.0.1:5432/db", "host=/run user=push dbname=x", "postgres:///push", "host=a,b port=1,2"]
        for address in good:
            self.assertEqual(postgres.address(address), address)
        for address in (
            "postgres://chat:s3cr3t%zz@127.0.0.1/db", "postgres://chat:x@s3cr3t@127.0.0.1/db", "s3cr3t", "host=a port=s3cr3t",
            "postgres://chat:s3cr3t/x@127.0.0.1/db", "host=127.0.0.1 password='s3cr3t"):
            with self.assertRaises(SettingError) as caught:
                postgres.address(address)
            self.assertEqual(caught.exception.code, "database")
            self.assertNotIn("s3cr3t", str(caught.exception) + repr(caught.exception.__context__ and ""))


class InPostgreSQLWithAsyncio(InPostgreSQL):
    """The same tests with AsyncPostgresStore, in an event loop that each request shares."""

    @staticmethod
    def make(test, options=""):
        from psycopg_pool import AsyncConnectionPool

        from sealed_push.postgres import AsyncPostgresStore

        plain = postgres_store(test, options)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()

        def run(coroutine):
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

        async def opened():
            pool = AsyncConnectionPool(database() + options, open=False, min_size=1, max_size=8)
            await pool.open()
            return pool

        pool = run(opened())
        own = AsyncPostgresStore(pool)

        def close():
            run(pool.close())
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

        test.addCleanup(close)
        plain.load = lambda *arguments: run(own.load(*arguments))
        plain.save = lambda *arguments: run(own.save(*arguments))
        plain.devices = lambda *arguments: run(own.devices(*arguments))
        return plain


del Stores, Databases
