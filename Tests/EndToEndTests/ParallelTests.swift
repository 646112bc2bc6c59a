import Foundation
import PushSender
import PushSimulator
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

/// One ledger, several processes of one device at once.
@Suite("A device that is told the same push in parallel", .serialized, .blocking) struct ParallelTests {
    @Test(
        "a push that comes again opens each time, under one identifier: nobody sees it twice, or the safe default in its place"
    ) func processes() throws {
        let device = try Device()
        for round in 0..<6 {
            let file = try device.file(try device.seal(Content(body: "round \(round)")))
            let outputs = try (0..<4).map { _ in try device.folder.write("", to: UUID().uuidString) }
            let processes = try outputs.map { output in
                try Program("device-simulator").start(
                    device.arguments(file, ["--identifier", "place"]),
                    output: FileHandle(forWritingTo: URL(filePath: output)))
            }
            for process in processes { #expect(process.wait() == .exited(0)) }
            for output in outputs {
                let text = try Checkout.text(URL(filePath: output))
                #expect(text.contains(#""outcome":"opened""#) && text.contains("round \(round)"), "\(text)")
            }
        }
    }

    @Test("a push opens also if two processes of a phone take the connection from each other")
    func connections() async throws {
        let rig = try await Rig(processCount: 2)
        defer { for process in rig.processes { process.kill() } }
        var sentCount = 0
        // Six times, and on until some came to both processes: on an idle machine the one may be done too soon.
        for round in 0..<40 {
            guard try round < 6 || rig.notifications().count == sentCount else { break }
            try await rig.disconnect(round % 2)
            try await rig.send(sentCount..<sentCount + 200)
            sentCount += 200
            // It takes the devices back, and with them what the other process is working on.
            try await rig.reconnect(round % 2)
            try await rig.wait("all pushes acknowledged") { rig.server.deviceCounts.unacknowledged == 0 }
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
        #expect(all.count > sentCount, "some came to both processes")
    }
}
