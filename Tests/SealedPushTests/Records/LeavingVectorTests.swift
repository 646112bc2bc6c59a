import PushCore
import TestSupport
import Testing

@testable import SealedPush

@Suite("Tests/Vectors/Leavings") struct LeavingVectorTests {
    @Test("Each case has the result that its file specifies, and an accepted leaving is signed again, byte for byte")
    func outcomes() throws {
        var counts: [String: Int] = [:]
        for vector in try NamedLines.all(in: "Leavings") {
            let (text, name) = (try vector.required("leaving"), vector.testDescription)
            let topic = try #require(Topic(parsing: try vector.required("topic")))
            let service = try #require(ServiceName(parsing: try vector.required("service")))
            var leaving: Leaving?
            let refusal = refusal { () throws(RecordError) in
                leaving = try Leaving(parsing: text, topic: topic, service: service)
            }
            let outcome = refusal?.rawValue ?? "accepted"
            #expect(try outcome == vector.required("outcome"), "\(name)")
            counts[outcome, default: 0] += 1
            guard let leaving else { continue }
            let counter = try #require(UInt64(try vector.required("counter")))
            let key = try EnrollmentPrivateKey(parsing: vector.required("signer-secret"))
            let again = Leaving(counter: counter, topic: topic, service: service, signedBy: key)
            #expect(again.description == text, "\(name)")
            #expect(try leaving.enrollment.description == vector.required("enrollment"), "\(name)")
            #expect(leaving.counter == counter && leaving.service == service, "\(name)")
            guard let record = try vector["record"].map({ try DeviceRecord(parsing: $0) }) else { continue }
            #expect(leaving.ends(record) == (vector["ends"] == "yes"), "\(name)")
        }
        #expect(counts == ["accepted": 13, "malformed": 19, "bad-signature": 10, "other-service": 4])
    }
}
