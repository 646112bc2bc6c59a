import Foundation
import PushSender
import PushSimulator
import SealedPush

/// Delivers a message to each phone in turn, round after round, and prints the medians.
func measureColdStarts(roundCount: Int) throws {
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    defer { try? FileManager.default.removeItem(at: folder) }
    let sender = SenderPrivateKey()
    let phones = try [(1, KeyAlgorithm.x25519), (16, .x25519), (1, .hybrid), (16, .hybrid)].map {
        try ColdPhone(keyCount: $0, $1, trusting: sender, in: folder)
    }
    // The first message to a phone also makes its folders.
    for phone in phones { _ = try phone.measure() }
    var costs = Array(repeating: [[CostMeter.Step: CostMeter.Cost]](), count: phones.count)
    for _ in 0..<roundCount {
        for (index, phone) in phones.enumerated() { costs[index].append(try phone.measure()) }
    }
    for (phone, rounds) in zip(phones, costs) { print(phone.summary(rounds)) }
}

/// A phone whose extension isn't running.
private struct ColdPhone {
    private let name: String
    private let device: SimulatedDevice
    private let recipient: DevicePublicKey
    private let sender: SenderPrivateKey
    private let report: URL
    private let sealer: Sealer

    /// Creates a phone with keys that are all in use. The newest one receives the messages.
    init(keyCount: Int, _ algorithm: KeyAlgorithm, trusting sender: SenderPrivateKey, in folder: URL) throws {
        name = "\(keyCount) \(algorithm == .hybrid ? "hybrid" : "classical") key\(keyCount == 1 ? "" : "s")"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let container = folder.appending(path: name, directoryHint: .isDirectory)
        let now = Timestamp.now()
        let keys = (1...keyCount).map {
            DeviceKey(DevicePrivateKey(algorithm), created: now.advanced(bySeconds: -3_600 * Int64($0)))
        }
        let oldest = keys[keyCount - 1].life.created
        try PushDelivery.prepareContainer(container, keyCreated: oldest.secondsSince1970)
        device = SimulatedDevice(container: container)
        try device.adopt(keys, destroying: [], enrollment: nil)
        recipient = keys[0].identity.recipient
        self.sender = sender
        report = folder.appending(path: "\(name).json")
        sealer = Sealer(sender: sender, topic: "com.example.app", safeDefault: "You have a new message!")
    }

    /// Seals a message, and lets a new process show it.
    func measure() throws -> [CostMeter.Step: CostMeter.Cost] {
        let payload = try sealer.seal(Content(title: "Nina", body: "Lunch at one?"), toUnverified: recipient)
        let push = try PushFile(parsing: Data(payload.json))
        try? FileManager.default.removeItem(at: report)
        let program = ExtensionProgram(
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath(),
            arguments: [
                "extension", "\(CostMeter.now)", sender.sender.description, report.path(percentEncoded: false),
            ])
        let delivery = PushDelivery(device: device, program: program, standard: nil)
        let delivered = try delivery.deliver(push, identifier: UUID().uuidString)
        let remarks = delivery.end()
        guard delivered.outcome == .opened, remarks.isEmpty else {
            fatalError("\(name): \(delivered.reason ?? delivered.note ?? "not opened") \(remarks)")
        }
        let costs = try JSONDecoder().decode([CostMeter.Step: CostMeter.Cost].self, from: Data(contentsOf: report))
        precondition(costs.count == CostMeter.Step.allCases.count, "only \(costs.keys) were measured")
        return costs
    }

    /// Returns the medians of the whole and of each step, in one line for time and one for memory.
    func summary(_ rounds: [[CostMeter.Step: CostMeter.Cost]]) -> String {
        let times = line(rounds, "%.2f") { $0.milliseconds }
        let memory = line(rounds, "%.0f") { Double($0.byteCount) / 1e3 }
        return "\(name), ms: \(times)\n\(name), kB: \(memory)"
    }

    private func line(
        _ rounds: [[CostMeter.Step: CostMeter.Cost]], _ format: String, _ value: (CostMeter.Cost) -> Double
    ) -> String {
        func sorted(_ steps: [CostMeter.Step]) -> [Double] {
            rounds.map { costs in steps.reduce(0) { $0 + (costs[$1].map(value) ?? 0) } }.sorted()
        }
        func text(_ value: Double) -> String { String(format: format, value) }
        let whole = sorted(CostMeter.Step.allCases)
        let edge = whole.count / 20
        let steps = CostMeter.Step.allCases.map { step in
            let values = sorted([step])
            return "\(step) \(text(values[values.count / 2]))"
        }
        return "\(text(whole[whole.count / 2])) (\(text(whole[edge])) to \(text(whole[whole.count - 1 - edge]))): "
            + steps.joined(separator: ", ")
    }
}
