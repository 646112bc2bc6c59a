import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushSender
@testable import SealedPush

#if os(Linux)
import TestPrograms
#endif

@Suite("Tests/Vectors/Receipts") struct ReceiptVectorTests {
    private static func bytes(_ name: String, in values: NamedLines) throws -> [UInt8] {
        try #require(Hex.decode(try values.required(name)))
    }

    private func outcome(_ values: NamedLines) throws -> String {
        if let request = values["receipt"] {
            let content = try Content(opening: Array(#"{"alert":{"body":"x"},"receipt":\#(request)}"#.utf8))
            #expect(content.alert.body == "x")
            return content.receipt == nil ? "unreadable" : "reads"
        }
        let topic = try #require(Topic(parsing: try values.required("topic")))
        let senders = try values.numbered("sender-secret").map {
            ReceiptKey(of: try SenderPrivateKey(parsing: Array($0.utf8)), for: topic)
        }
        let (body, now) = (try Self.bytes("body", in: values), Timestamp(clamping: try values.number("now")))
        do throws(ReceiptError) {
            _ = try ReceiptReceiver(keys: senders).receive(body, at: now)
            return "taken"
        } catch { return error.rawValue }
    }

    @Test("Each case has the result that its file specifies") func outcomes() throws {
        var counts: [String: Int] = [:]
        for values in try NamedLines.all(in: "Receipts") {
            let expected = try values.required("outcome")
            counts[expected, default: 0] += 1
            #expect(try outcome(values) == expected, "\(values.testDescription)")
        }
        #expect(Set(counts.keys) == Set(ReceiptError.allCases.map { $0.rawValue } + ["taken", "reads", "unreadable"]))
        #expect(counts.values.reduce(0, +) == 201)
    }

    @Test("An accepted receipt is created again from its parts, byte for byte, and so is each intermediate value")
    func parts() throws {
        var caseCount = 0
        for values in try NamedLines.all(in: "Receipts") where values["outcome"] == "taken" {
            caseCount += 1
            let secret = try #require(values.numbered("sender-secret").last)
            let topic = try #require(Topic(parsing: try values.required("topic")))
            let key = ReceiptKey(of: try SenderPrivateKey(parsing: Array(secret.utf8)), for: topic)
            let recipient = try DevicePublicKey(parsing: try values.required("recipient"))
            let address = try #require(ReceiptAddress(parsing: "https://a"))
            let request = key.request(recipient, to: address)
            #expect(request.id.description == values["id"], "\(values.testDescription)")
            #expect(Hex.encode(request.key) == values["key"], "\(values.testDescription)")
            let message = try #require(MessageID(parsing: try values.required("message")))
            let number = ReceiptBody.number(of: message, key: request.key)
            #expect(Hex.encode(number) == values["number"], "\(values.testDescription)")
            var counts = [UInt16](repeating: 0, count: ReceiptBody.reasonCount)
            for pair in try values.required("counts").split(separator: " ") {
                let parts = pair.split(separator: "=")
                let index = try #require(Int(parts[0]))
                counts[index - 1] = try #require(UInt16(parts[1]))
            }
            let body = ReceiptBody(
                id: request.id, number: number, created: Timestamp(clamping: try values.number("created")),
                elapsedMilliseconds: UInt32(try values.number("elapsed")), counts: counts)
            #expect(Hex.encode(body.bytes(key: request.key)) == values["body"], "\(values.testDescription)")
            #expect(try values.required("body").hasSuffix(values.required("mac")), "\(values.testDescription)")
        }
        #expect(caseCount == 12)
    }

    #if os(Linux)
    private func python(_ arguments: String...) throws -> Program.Result {
        let script = Checkout.folder.appending(path: "Tests/Evidence/Interop/receipts.py").path
        // Debian's own Python, for which the packages are installed.
        return try Program(at: "/usr/bin/python3").run([script] + arguments)
    }

    @Test("Another implementation, written from the Specification, has the same result for each case", .blocking)
    func elsewhere() throws {
        let result = try python("check-vectors", Checkout.folder.appending(path: "Tests/Vectors/Receipts").path)
        #expect(result.trimmed == "201 vectors, 0 wrong", "\(result.errors)")
    }

    @Test("Another implementation's receipt is accepted here, and one of ours is accepted there", .blocking)
    func bothWays() throws {
        let (sender, phone) = (SenderPrivateKey(), DevicePrivateKey().recipient)
        let folder = try TemporaryFolder()
        let address = try #require(ReceiptAddress(parsing: "https://push.example.com/r"))
        let request = ReceiptKey(of: sender, for: Exchange.topic).request(phone, to: address)
        let (message, now) = (MessageID.random(), Timestamp.now())
        let asked = """
            receipt: \(String(decoding: request.json.bytes, as: UTF8.self))
            message: \(message)
            created: \(now.secondsSince1970)
            elapsed: 87
            counts: 2=5 12=1
            """
        let made = try NamedLines(try python("make", try folder.write(asked, to: "asked")).output)
        let body = try Self.bytes("body", in: made)
        let receipt = try ReceiptReceiver(keys: [ReceiptKey(of: sender, for: Exchange.topic)]).receive(
            body, at: now)
        #expect(receipt.failures == [.unknownRecipient: 5, .tooOld: 1])
        #expect(receipt.elapsed == .milliseconds(87))
        #expect(receipt.number == ReceiptBody.number(of: message, key: request.key))

        let ours = ReceivedReceipts(sender).bytes(request, failures: [.replayed: 4], message: message, at: now)
        let secret = sender.withSecretText { String(decoding: $0, as: UTF8.self) }
        let posted =
            "sender-secret: \(secret)\ntopic: \(Exchange.topic)\nbody: \(Hex.encode(ours))\nnow: \(now.secondsSince1970)"
        let read = try NamedLines(try python("read", try folder.write(posted, to: "posted")).output)
        #expect(read["id"] == request.id.description)
        #expect(read["counts"] == "14=4")
        #expect(read["elapsed"] == "200")
    }
    #endif
}
