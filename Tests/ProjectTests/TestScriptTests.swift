import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("Scripts/test", .blocking) struct TestScriptTests {
    private let script = Checkout.folder.appending(path: "Scripts/test")

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
        #expect(names.count >= 5)
        for name in names {
            let folder = Checkout.folder.appending(path: "Tests/\(name)Tests").path
            #expect(FileManager.default.fileExists(atPath: folder), "there is no \(name)Tests")
        }
    }
}
