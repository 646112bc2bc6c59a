import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("The example ImageAndReceipt, the file an app would ship", .serialized, .blocking) struct ImageAndReceiptTests {
    private let phone: ExamplePhone
    private let files: MisbehavingServer
    private let picture: URL
    private static let keys = Checkout.folder.appending(path: "Tests/Keyring").path

    init() throws {
        phone = try ExamplePhone(running: "image-and-receipt-example")
        files = try MisbehavingServer()
        picture = Checkout.folder.appending(path: "Tests/PushChartsTests/Golden/sparkline-dark.png")
    }

    /// Content with a title and the picture, which is stored encrypted at an address of this machine.
    private func content(_ serve: ([UInt8]) -> MisbehavingServer.Manner) throws -> String {
        let stored = phone.folder.appending(UUID().uuidString)
        let content = try phone.folder.write(#"{"alert":{"title":"Nina sent a picture"}}"#, to: "content.json")
        let attached = try Program("sealedpush").run(
            "attach", picture.path, "--url", "http://127.0.0.1:\(files.port)/9f2c", "--output", stored.path,
            "--content", content)
        try #require(attached.status == 0, "\(attached.errors)")
        _ = files.url("9f2c", serve(Array(try Data(contentsOf: stored))))
        return content
    }

    @Test("the example ImageAndReceipt shows title, body, and picture, and the server gets a receipt of each push")
    func wholeWay() throws {
        let push = try phone.folder.write(
            #"{"aps":{"alert":"x","mutable-content":1},"custom-encrypted-message":"AAAA"}"#, to: "bad.apns")
        #expect(try phone.deliver(push)["body"] as? String == "You have a new picture!")
        // Before the first unlock nothing opens, and it is counted all the same.
        let sealed = phone.folder.appending("locked.apns").path
        let title = try phone.folder.write(#"{"alert":{"title":"Nina"}}"#, to: "title.json")
        _ = try Program("sealedpush").run(
            "seal", title, "--from", "test-newsroom", "--to", "test-phone", "--topic", "com.example.app", "--keyring",
            Self.keys, "--output", sealed)
        #expect(try phone.deliver(sealed, ["--locked"])["reason"] as? String == "locked")
        try ReceiptListener.run(in: phone.folder.url, keyring: Self.keys, sender: "test-newsroom") { listener in
            let shown = try phone.show(file: try content { .serves($0) }, sealedWith: ["--receipts", listener.url])
            #expect(shown["outcome"] as? String == "opened")
            #expect(shown["title"] as? String == "Nina sent a picture")
            #expect(shown["body"] as? String == "Touch and hold to see it.")
            let attachments = shown["attachments"] as? [[String: Any]] ?? []
            #expect(attachments.count == 1)
            let file = try #require(attachments.first?["file"] as? String)
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(contentsOf: picture))
            let memory = try #require(shown["peakMemoryBytes"] as? Int)
            print("ImageAndReceipt: \(memory) bytes of memory, \(shown["elapsedMilliseconds"] ?? "-") ms")
            // A busy machine may have suspended the process before it had posted: then it goes with the next one.
            var rounds = 0
            while try listener.counted().shown == 0, rounds < 20 {
                rounds += 1
                _ = try phone.show(#"{"alert":{"body":"another"}}"#)
            }
            #expect(try listener.counted() == (1, ["malformed": 1, "locked": 1]))
        }
    }

    @Test("the example ImageAndReceipt shows the text if the picture's server is broken, and keeps the receipt")
    func broken() throws {
        let shown = try phone.show(
            file: try content { .cuts($0, after: 100) }, sealedWith: ["--receipts", "http://127.0.0.1:1/"])
        #expect(shown["title"] as? String == "Nina sent a picture")
        #expect(shown["body"] as? String == "Touch and hold to see it.")
        #expect((shown["attachments"] as? [Any])?.isEmpty == true)
        let waiting = try FileManager.default.contentsOfDirectory(
            atPath: phone.state.appending(path: "SealedPush/receipts").path)
        #expect(waiting.count == 1)
    }
}
