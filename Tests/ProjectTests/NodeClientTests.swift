import Foundation
import TestPrograms
import TestSupport
import Testing

/// What it seals, asks and enrolls is held against Swift by InteropTests.
@Suite("Clients/Node", .blocking) struct NodeClientTests {
    private let client = Checkout.folder.appending(path: "Clients/Node")

    @Test("its own tests pass: vectors, every bit of a record and a push, a device's life, its README, hostile input")
    func tests() throws {
        let result = try Program(at: "/usr/bin/node", in: client).run("--test")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains("pass 32\n") && result.output.contains("fail 0\n"), "\(result.output)")
    }

    @Test("what a package of it holds is enough, and it depends on nothing") func package() throws {
        let text = try Data(contentsOf: client.appending(path: "package.json"))
        let manifest = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        #expect(!manifest.keys.contains { $0.lowercased().hasSuffix("dependencies") })
        let folder = try TemporaryFolder()
        let installed = folder.appending("node_modules/sealed-push")
        try FileManager.default.createDirectory(at: installed, withIntermediateDirectories: true)
        for name in try #require(manifest["files"] as? [String]) + ["package.json"] {
            try FileManager.default.copyItem(at: client.appending(path: name), to: installed.appending(path: name))
        }
        let script = try folder.write(
            """
            import { generateSenderSecret, Sender } from 'sealed-push'
            console.log(new Sender(generateSenderSecret(), { topic: 'com.example.app' }).mostContentBytes)
            """, to: "script.mjs")
        let result = try Program(at: "/usr/bin/node", in: folder.url).run(script)
        #expect(result.output == "2940\n", "\(result.errors)")
    }
}
