import Foundation
import PushOutbox
import PushPostgres
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Tests Examples/Transaction in both of its languages.
@Suite("A message and its pushes in one transaction", .blocking) struct TransactionExampleTests {
    enum Language: CaseIterable { case python, swift }

    private let fixture: Fixture
    private let key: OutboxKey
    private let identity = DevicePrivateKey()
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        let path = folder.appending("outbox.key")
        key = OutboxKey()
        try key.withSecretText { text throws in try Data(text).write(to: path) }
        let key = key
        fixture = try await Fixture.$key.withValue(key) {
            try await StoreKind.$current.withValue(.postgres) { try await Fixture() }
        }
    }

    @Test("a committed message is delivered once; a rolled back one leaves no trace", arguments: Language.allCases)
    func example(language: Language) async throws {
        let outbox = try await Fixture.$key.withValue(key) { try await fixture.reopened(nil) }
        try await enroll("phone", in: outbox)
        // Fails at the very end of a transaction, when everything has been written. Without a transaction, the message is
        // stored alone.
        try await database.run(
            """
            SET search_path = public;
            CREATE FUNCTION unlucky() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN IF EXISTS (SELECT 1 FROM sealed_push.entries) THEN RAISE 'unlucky'; END IF; RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER unlucky AFTER INSERT ON message DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW WHEN (NEW.id = 13) EXECUTE FUNCTION unlucky()
            """)
        #expect(try post(13, by: language).status != 0)
        for table in ["entries", "queues", "requests", "public.message"] {
            #expect(try await fixture.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        let posted = try post(1, by: language)
        #expect(posted.status == 0 && posted.output.contains("enqueued"), "\(posted)")
        let again = try post(1, by: language)
        #expect(again.status == 0 && again.output.contains("repeated"), "\(again)")
        #expect(try await fixture.number("SELECT count(*) FROM public.message") == 1)

        let transport = ScriptedTransport()
        let report = try await fixture.deliver(transport, from: outbox, until: .empty)
        #expect(report.acceptedCount == 1 && report.refused.isEmpty)
        let request = try #require(transport.delivered.all.first)
        #expect(try fixture.body(of: request, for: identity, at: .now()) == "Lunch at one?")
    }

    private var database: PostgresServer.Database { get throws { try #require(fixture.database) } }

    private func enroll(_ name: DeviceName, in outbox: Outbox) async throws {
        let enrollment = EnrollmentPrivateKey()
        let record = try fixture.record(of: [identity.recipient], signedBy: enrollment)
        let device = try EnrolledDevice(loading: enrollment.enrollment, record: record, proven: [identity.recipient])
        try await outbox.register(
            RegisteredDevice(
                name: name, user: "alice", topic: Fixture.topic, keys: .enrolled(device),
                address: .active(Fixture.address("phone"), registered: fixture.now)))
        let schema = try Checkout.text(Checkout.folder.appending(path: "Examples/Transaction/schema.sql"))
        let keys = #""record":"\#(record.description)","proven":["\#(identity.recipient)"],"challenges":[]"#
        let state = #"{"enrollment":"\#(enrollment.enrollment)",\#(keys)}"#
        try await database.run(
            "SET search_path = public; \(schema) INSERT INTO phone VALUES ('\(name)', 'alice', '\(state)')")
    }

    private func post(_ id: Int, by language: Language) throws -> Program.Result {
        let environment = [
            "DATABASE_URL": try database.address,
            "SENDER_SECRET": fixture.sender.withSecretText { String(decoding: $0, as: UTF8.self) },
            "OUTBOX_KEY_FILE": folder.appending("outbox.key").path,
            "PYTHONPATH": Checkout.folder.appending(path: "Clients/Python/src").path, "PYTHONDONTWRITEBYTECODE": "1",
        ]
        let words = ["alice", String(id), "Lunch at one?"]
        switch language {
        case .swift: return try Program("transaction-example").run(words, environment: environment)
        case .python:
            let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
            try #require(setUp.status == 0, "\(setUp.errors)")
            let program = Checkout.folder.appending(path: "Examples/Transaction/chat.py").path
            return try Program(at: setUp.trimmed).run([program] + words, environment: environment)
        }
    }
}
