import PushCore
import Testing

@testable import SealedPush

@Suite("The vectors of a sender's input") struct SealingVectorTests {
    @Test("Each file in Tests/Vectors/Sealing is sealed or refused because of the member that it specifies")
    func vectors() throws {
        var counts: [String: Int] = [:]
        for vector in try NamedLines.all(in: "Sealing") {
            let (outcome, member) = try found(vector)
            #expect(outcome == vector["outcome"], "\(vector.testDescription)")
            #expect(member == vector["member"], "\(vector.testDescription)")
            counts[outcome, default: 0] += 1
        }
        #expect(counts == ["sealed": 105, "refused": 308], "a case was added or lost; update the numbers in this test")
    }

    private func found(_ vector: NamedLines) throws -> (outcome: String, member: String?) {
        if let start = vector["start"].flatMap(Hex.decode) {
            let type = try #require(MediaType(rawValue: try vector.required("type")))
            return (type.matches(start) ? "sealed" : "refused", nil)
        }
        let bytes = Array(try vector.required("content").utf8)
        do throws(ContentError) {
            try Content(parsing: bytes).checkForSealing()
            return ("sealed", nil)
        } catch {
            switch error {
            case .null(let member):
                #expect(error.description == "the content's \"\(member)\" is null: leave it out")
                return ("refused", member)
            case .besideWithdrawal(let member): return ("refused", member)
            case .invalid(let member):
                // Receivers leave out the file, and accept the rest.
                if member.hasSuffix(".url") { #expect(throws: Never.self) { try Content(opening: bytes) } }
                return ("refused", member)
            case .notJSON(let fault):
                #expect(fault.description.contains("write it as a string"))
                #expect(throws: Never.self) { try Content(opening: bytes) }
                return ("refused", nil)
            case .missing(let member): return ("refused", member)
            case .tooLong, .noVisibleText: return ("refused", error.description)
            }
        }
    }
}
