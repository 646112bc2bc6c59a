import Foundation
import TestPrograms
import TestSupport
import TestThreads
import Testing

@Suite("Scripts/test", .blocking)
struct TestScriptTests {
    private let script = Checkout.folder.appending(path: "Scripts/test")

    @Test("tells its flags when asked, and when it is given another one")
    func usage() throws {
        let bash = Program(at: "/bin/bash")
        let help = try bash.run(script.path, "--help")
        #expect(help.status == 0 && help.errors.isEmpty)
        let refusal = try bash.run(script.path, "--no-such-flag")
        #expect(refusal.status == 64 && refusal.output.isEmpty)
        for text in [help.output, refusal.errors] {
            for flag in ["--thorough", "--sanitize"] { #expect(text.contains("\n  \(flag)  "), "\(text)") }
        }
    }

    @Test("runs each test in one of its two parts: what the first one is made of is left out of the second")
    func parts() throws {
        let text = try Checkout.text(script)
        let filters = text.split(separator: "\n").filter { $0.hasPrefix("part ") }.map {
            $0.split(separator: " ")[1...3]
        }
        #expect(
            filters.map { $0.joined(separator: " ") } == [
                #"networks --filter "$networks""#, #"rest --skip "$networks""#,
            ])
        let list = try #require(text.firstMatch(of: /networks='\^\(([A-Za-z|]+)\)Tests\\\.'/))
        let names = list.1.split(separator: "|")
        #expect(names.count >= 6)
        for name in names {
            let folder = Checkout.folder.appending(path: "Tests/\(name)Tests").path
            #expect(FileManager.default.fileExists(atPath: folder), "there is no \(name)Tests")
        }
    }
}
