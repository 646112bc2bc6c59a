import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

/// Runs a built extension on a device of its own, without a command line in between.
struct ExtensionRuns {
    let folder: TemporaryFolder
    let delivery: PushDelivery
    let session: ExtensionSession

    init(_ program: String = "misbehaving-extension", _ rules: ExtensionRules = ExtensionRules()) throws {
        folder = try TemporaryFolder()
        let device = SimulatedDevice(container: folder.appending("State"))
        let program = ExtensionProgram(Program(program).executable)
        delivery = PushDelivery(device: device, program: program, standard: nil, rules: rules)
        session = ExtensionSession(program, setting: ExtensionSetting(device: device, standard: nil), rules: rules)
    }

    func push(_ body: String) throws -> PushFile {
        let payload = ["aps": ["alert": body, "mutable-content": 1] as [String: Any]]
        return try PushFile(parsing: try JSONSerialization.data(withJSONObject: payload))
    }

    func deliver(_ body: String, identifier: String = "a") throws -> DeliveredPush {
        try delivery.deliver(try push(body), identifier: identifier)
    }

    func run(_ body: String, identifier: String = "a") throws -> ExtensionResult {
        try session.run(identifier: identifier, payload: try push(body).json)
    }

    /// All at once; the results in the order of the bodies.
    func runAll(_ bodies: [String]) throws -> [ExtensionResult] {
        let payloads = try bodies.map { try push($0).json }
        let results = Collected<(Int, ExtensionResult)>()
        let threads = payloads.indices.map { index in
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                if let result = try? session.run(identifier: bodies[index], payload: payloads[index]) {
                    results.add((index, result))
                }
                isDone.signal()
            }
            return isDone
        }
        for thread in threads { thread.wait() }
        return results.all.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension ExtensionResult {
    var body: String? {
        guard case .returned(let content) = ending else { return nil }
        return content.body
    }
}
