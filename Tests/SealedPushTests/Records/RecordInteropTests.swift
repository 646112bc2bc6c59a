#if os(Linux)
    import Foundation
    import TestPrograms
    import TestSupport
    import Testing

    @testable import PushSender
    @testable import SealedPush

    /// The second implementation, Clients/Python, made from the specification: both directions, with random keys.
    @Suite("Another implementation of records and challenges", .serialized, .blocking)
    struct RecordInteropTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func python(_ command: String, _ path: String) throws -> Program.Result {
            let script = Checkout.folder.appending(path: "Tests/Interop/records_tool.py").path
            // Debian's own Python, for which the packages are installed.
            return try Program(at: "/usr/bin/python3", in: folder.url).run(script, command, path)
        }

        private func python(_ command: String, _ values: KeyValuePairs<String, String>) throws -> NamedLines {
            let lines = values.map { "\($0): \($1)" }.joined(separator: "\n")
            let result = try python(command, try folder.write(lines, to: "input"))
            #expect(result.status == 0, "\(result.errors)")
            return try NamedLines(result.output)
        }

        @Test("ends every vector as its file says")
        func vectors() throws {
            let result = try python("check-vectors", Checkout.folder.appending(path: "Tests/Vectors/Records").path)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.trimmed == "87 vectors, 0 wrong")
        }

        @Test("signs a device's record that is read here, and reads one that is signed here", arguments: [1, 2, 16])
        func device(count: Int) throws {
            let (key, recipients) = (EnrollmentPrivateKey(), (0..<count).map { _ in DevicePrivateKey().recipient })
            let ours = try DeviceRecord(
                of: recipients, topic: Exchange.topic, counter: .max, created: Exchange.now,
                expires: Exchange.now.advanced(bySeconds: 60), signedBy: key)
            let read = try python("read", ["kind": "device", "record": ours.description])
            #expect(read["signer"] == key.enrollment.description)
            #expect(read["counter"] == "\(UInt64.max)" && read["topic"] == "com.example.app")
            #expect(try read.number("created") == Exchange.now.secondsSince1970)
            #expect(try read.number("expires") == Exchange.now.secondsSince1970 + 60)
            #expect(read.numbered("key") == recipients.map(\.description))

            var lines =
                "kind: device\nsigner-secret: \(key.secretText)\ncounter: \(UInt64.max)\ntopic: com.example.app\n"
            lines += "created: \(Exchange.now.secondsSince1970)\nexpires: \(Exchange.now.secondsSince1970 + 60)\n"
            for (index, recipient) in recipients.enumerated() {
                lines += "key\(index == 0 ? "" : "\(index + 1)"): \(recipient)\n"
            }
            let signed = try python("sign", try folder.write(lines, to: "sign"))
            #expect(signed.trimmed == "record: \(ours)", "\(signed.errors)")
        }

        @Test("signs a sender set that is read here, and reads one that is signed here")
        func senders() throws {
            let (key, sender) = (AuthorityPrivateKey(), SenderPrivateKey().sender)
            let ours = try SenderSet(
                of: [sender], topic: Exchange.topic, counter: 0, created: Exchange.now,
                expires: Exchange.now.advanced(bySeconds: 60), signedBy: key)
            let read = try python("read", ["kind": "senders", "record": ours.description])
            #expect(read["signer"] == key.authority.description)
            #expect(read.numbered("key") == [sender.description])
            let theirs = try python(
                "sign",
                [
                    "kind": "senders", "signer-secret": key.secretText, "counter": "1", "created": "5", "expires": "6",
                    "topic": "com.example.app", "key": sender.description,
                ])
            let set = try SenderSet(parsing: try theirs.required("record"))
            #expect(set.authority == key.authority && set.senders == [sender] && set.counter == 1)
            #expect(set.created == Timestamp(clamping: 5) && set.expires == Timestamp(clamping: 6))
        }

        @Test("answers a challenge that is made here, and its own is answered here")
        func challenge() throws {
            let enrolling = Enrolling()
            let challenge = enrolling.challenge()
            let answered = try python(
                "answer",
                [
                    "challenge": challenge.text, "identity": enrolling.identities[0].secretText,
                    "sender": enrolling.senderKey.sender.description, "topic": "com.example.app",
                    "enrollment": enrolling.enrollment.description,
                ])
            try challenge.check(try answered.required("answer"), at: Enrolling.now)

            let asked = try python(
                "ask",
                [
                    "sender-secret": enrolling.senderKey.secretText, "recipient": enrolling.recipients[0].description,
                    "asked-enrollment": enrolling.enrollment.description, "topic": "com.example.app",
                ])
            #expect(try enrolling.answer(try asked.required("challenge")) == asked["answer"])
        }
    }
#endif
