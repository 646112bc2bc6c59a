import Foundation
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

@Suite("Receipts of many notifications in one process", .serialized, .blocking)
struct ReceiptReuseTests {
    @Test("receipts of many notifications are all counted, and leave neither memory nor descriptors behind")
    func many() throws {
        let device = try Device()
        let keyring = device.folder.appending("Keys")
        try ReceiptListener.run(in: device.folder.url, keyring: keyring.path) { listener in
            let address = try #require(ReceiptAddress(parsing: listener.url))
            let sealer = Sealer(sender: device.sender, topic: Device.topic, safeDefault: "x", receipts: address)
            let folder = try TemporaryFolder(inMemory: true)
            let simulated = try device.phone(in: folder.appending("State"))
            let standard = StandardConfiguration(
                topic: Device.topic.description, senders: [device.sender.sender.description], safeDefault: "default",
                allowsAnonymous: false)
            let session = ExtensionSession(
                ExtensionProgram(Program("device-simulator").executable, arguments: ["host-extension"]),
                setting: ExtensionSetting(device: simulated, standard: standard), rules: ExtensionRules())
            var memory: [Int] = []
            var descriptorCount = 0
            for number in 0..<Self.count {
                let payload = try sealer.seal(Content(body: "\(number)"), toUnverified: device.recipient)
                let result = try session.run(identifier: "\(number)", payload: Data(payload.json))
                #expect(result.body == "\(number)")
                memory.append(result.peakMemoryByteCount)
                if number == 99 { descriptorCount = try settled(session) }
            }
            // Those that post are open while they do.
            let limit = descriptorCount + 2
            let end = ContinuousClock.now + .seconds(300)
            while try settled(session) > limit, ContinuousClock.now < end {}
            #expect(try settled(session) <= limit)
            let isFlat = memory[Self.count - 1] < memory[99] + 1 << 20
            #expect(isFlat || !ProcessMemory.isMeaningful, "\(memory[99]), \(memory[Self.count - 1])")
            // A busy machine may be behind with the last ones.
            while try listener.counted().shown < Self.count, ContinuousClock.now < end { usleep(100_000) }
            #expect(try listener.counted() == (Self.count, [:]))
            print("after \(Self.count) receipts: \(memory[Self.count - 1]) bytes, \(descriptorCount) descriptors")
            #expect(session.end().isEmpty)
        }
    }

    /// How many descriptors the extension has once everything that waits has been posted.
    private func settled(_ session: ExtensionSession) throws -> Int {
        let process = try #require(session.processIdentifier)
        var least = Int.max
        for _ in 0..<60 {
            least = min(least, try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count)
            usleep(10_000)
        }
        return least
    }

    private static let count = Thoroughness.count(150, thorough: 250)
}
