import Foundation
import PushOutbox
import PushPostgres
import PushSender
import SealedPush

// A program for tests to kill. `enqueue` adds messages to an outbox and records each acknowledged one. `everyone` does the
// same for all devices at once. `work` delivers to a file, and `register` adds a device. `OUTBOX_KEY_FILE` in the environment
// names the file with the outbox's key, if it has one.
let words = CommandLine.arguments.dropFirst()
let arguments = Array(words.dropFirst())

/// Appends a line to a file in one write, so that the file has either the whole line or none of it.
struct Lines: Sendable {
    let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600) }

    func append(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count, "a line was only partly written")
    }
}

/// Records each push. Like a network, it sometimes fails before that, or loses the response after it.
struct RecordingTransport: PushTransport {
    let lines: Lines
    let faultPercentage: Int

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        let chance = Int.random(in: 0..<100)
        if chance < faultPercentage { throw .unreachable("by chance") }
        lines.append(
            [
                request.apnsID, request.collapseID, request.address.hexadecimal,
                String(decoding: request.body, as: UTF8.self),
            ].joined(separator: "\t"))
        if chance < 2 * faultPercentage { throw .connectionLost("by chance") }
        if chance < 3 * faultPercentage { return .later(.service, PushReason("ServiceUnavailable")) }
        return .accepted(uniqueID: nil)
    }
}

func makeSealer(_ path: String) throws -> Sealer {
    let text = try Data(contentsOf: URL(filePath: path))
    let key = try text.withUnsafeBytes { try SenderPrivateKey(parsing: $0) }
    return Sealer(sender: key, topic: "com.example.app", safeDefault: "You have a new message!")
}

let outboxKey = try ProcessInfo.processInfo.environment["OUTBOX_KEY_FILE"].map { file in
    try OutboxKey(parsing: Array(Data(contentsOf: URL(filePath: file))))
}
// Wait longer than any machine is busy.
let outbox =
    arguments[0].hasPrefix("postgres://")
    ? try await Outbox(
        postgres: arguments[0], clock: nil, patience: .seconds(600), rowPatience: .seconds(600), key: outboxKey)
    : try Outbox(at: arguments[0], clock: .system, busyLimit: 600, key: outboxKey)
switch words.first {
case "enqueue", "everyone":
    let sealer = try makeSealer(arguments[1])
    let acknowledged = Lines(arguments[2])
    let deviceCount = Int(arguments[5]) ?? 1
    for number in (Int(arguments[3]) ?? 0)..<(Int(arguments[4]) ?? 0) {
        guard let key = IdempotencyKey("message \(number)"), let name = DeviceName(parsing: "d\(number % deviceCount)")
        else { break }
        try await outbox.enqueue(
            OutgoingMessage(Content(body: "message \(number)"), key: key),
            to: words.first == "everyone" ? .everyone : .device(name), from: sealer, includingUnverified: true)
        acknowledged.append("\(number)")
    }
case "work":
    let transport = RecordingTransport(lines: Lines(arguments[1]), faultPercentage: Int(arguments[2]) ?? 0)
    var limits = CourierLimits(inFlightCount: 16, lease: .milliseconds(300), pollInterval: .milliseconds(20))
    limits.delayFactor = 1e-5
    let report = try await Courier(for: outbox, through: transport, limits: limits)
        .run(until: arguments[3] == "empty" ? .empty : .stopped)
    print(report.acceptedCount)
case "register":
    guard let name = DeviceName(parsing: arguments[1]), let token = DeviceToken(parsing: "0123456789abcdef") else {
        break
    }
    try await outbox.register(
        RegisteredDevice(
            name: name, user: "anna", topic: "com.example.app", keys: .unverified(DevicePrivateKey().recipient),
            address: .active(.apns(token), registered: .now())))
default: exit(64)
}
