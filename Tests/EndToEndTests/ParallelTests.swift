import Foundation
import Glibc
import PushSender
import PushSimulator
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("A device that receives the same push in parallel", .serialized, .blocking) struct ParallelTests {
    @Test("a push opens even if two processes of a phone take over the connection from each other")
    func connections() async throws {
        let rig = try await Rig(processCount: 2)
        defer { for process in rig.processes { process.kill() } }
        var sentCount = 0
        for round in 0..<6 {
            let other = rig.processes[1 - round % 2]
            try await rig.disconnect(round % 2)
            // In every third round, the other process is suspended, so its pushes arrive but wait unread.
            if round % 3 == 2 { Glibc.kill(other.identifier, SIGSTOP) }
            try await rig.send(sentCount..<sentCount + 200)
            sentCount += 200
            // This process takes over the devices, along with the pushes that the other one is handling.
            try await rig.reconnect(round % 2)
            try await rig.wait("all pushes acknowledged") { rig.server.deviceCounts.unacknowledged == 0 }
            Glibc.kill(other.identifier, SIGCONT)
        }
        try await rig.wait("all messages shown") { try rig.notifications().count >= sentCount }
        await rig.end()

        var places: [String: Set<String>] = [:]
        let all = try rig.notifications()
        for notification in all {
            #expect(notification["outcome"] as? String == "opened", "\(notification)")
            let place = "\(notification["device"] ?? "") \(notification["identifier"] ?? "")"
            places[notification["body"] as? String ?? "", default: []].insert(place)
        }
        #expect(places.count == sentCount)
        #expect(places.values.allSatisfy { $0.count == 1 })
        print("\(all.count) notifications of \(sentCount) messages")
        #expect(all.count > sentCount, "some arrived in both processes")
    }
}
