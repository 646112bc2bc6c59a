internal import Foundation
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import PushService
internal import SealedPush
internal import TestSupport

/// The numbers of key changes that the apps of a run's phones have made.
package struct KeyChangeCounts: Sendable {
    package internal(set) var rotated = 0
    package internal(set) var confirmed = 0
    package internal(set) var retired = 0
    package internal(set) var revokedAtFirst = 0
    package internal(set) var revokedHalfway = 0
}

/// The apps of a run's phones, which change their keys while messages flow, and the server that accepts their records
/// into the outbox from which another process sends.
final class KeyChanges: Sendable {
    private let plan: RunPlan
    private let newsroom: Newsroom
    private let apps: [PhoneApp]
    private let outbox: Outbox
    private let folder: RunFolder
    private let state = Locked(State())

    private struct State {
        /// The fraction of messages that have been sealed, from 0 to 1.
        var progress = 0.0
        /// Phones that have shown the first half of their messages, and revoke their keys next.
        var revoking: Set<Int> = []
        var isEnding = false
        var counts = KeyChangeCounts()
    }

    init(_ plan: RunPlan, _ newsroom: Newsroom, _ folder: RunFolder) throws {
        self.plan = plan
        self.newsroom = newsroom
        self.folder = folder
        apps = try (0..<plan.deviceCount).map { number in
            try PhoneApp(in: folder.states.appending(path: RunPlan.deviceName(number)), trusting: newsroom)
        }
        try FileManager.default.createDirectory(
            at: folder.revoked(0).deletingLastPathComponent(), withIntermediateDirectories: true)
        outbox = try Outbox(at: folder.outbox.path(percentEncoded: false))
    }

    /// Runs every phone's first launch. A third of them then revoke their keys as if stolen, and a third rotate.
    func enroll(at now: Timestamp) throws -> [EnrolledDevice] {
        try apps.enumerated().map { number, app in
            var server = try newsroom.enroll(app, at: now)
            guard number % 3 > 0 else { return server }
            let later = now.advanced(bySeconds: 1)
            let record = try number % 3 == 1 ? app.device.revoke(at: later) : app.device.rotate(at: later)
            state.withLock { if number % 3 == 1 { $0.counts.revokedAtFirst += 1 } else { $0.counts.rotated += 1 } }
            try newsroom.take(record, of: app, to: &server, at: later)
            return server
        }
    }

    /// Registers devices with their tokens, as the server does.
    func register(_ devices: [RegisteredDevice]) async throws { try await outbox.register(devices) }

    /// - Parameter revoking: Phones that have shown all they should show before they revoke their keys.
    func note(progress: Double, revoking: Set<Int>) {
        state.withLock {
            $0.progress = progress
            $0.revoking = revoking
        }
    }

    func end() { state.withLock { $0.isEnding = true } }

    /// Changes keys at the pace of the work until it ends; then confirms the keys that messages have opened with.
    func run() async throws -> KeyChangeCounts {
        var random = SeededGenerator(seed: plan.seed)
        var count = 0
        var revoked: Set<Int> = []
        while true {
            let (progress, isEnding, revoking) = state.withLock { ($0.progress, $0.isEnding, $0.revoking) }
            guard !isEnding else { break }
            for number in revoking.subtracting(revoked) {
                try await revoke(number)
                revoked.insert(number)
            }
            let number = Int.random(in: apps.indices, using: &random)
            if Double(count) < progress * Double(plan.keyChangeCount), try await change(number) {
                count += 1
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        for number in apps.indices where try apps[number].hasNews { _ = try await change(number) }
        return state.withLock { $0.counts }
    }

    /// Returns false if the phone must wait for a message first.
    private func change(_ number: Int) async throws -> Bool {
        let app = apps[number]
        if try app.hasNews {
            let done = try app.device.maintain()
            state.withLock { state in
                state.counts.confirmed += done.confirmed.count
                state.counts.retired += done.retired.count
            }
            try await handOver(done.record, number)
        } else {
            let record: DeviceRecord
            do throws(DeviceError) { record = try app.device.rotate() } catch {
                guard error == .unconfirmed else { throw error }
                return false
            }
            state.withLock { $0.counts.rotated += 1 }
            try await handOver(record, number)
        }
        return true
    }

    /// Revokes a phone's keys after it has shown what was sealed to them. Later messages are sealed to its next key.
    private func revoke(_ number: Int) async throws {
        try await handOver(apps[number].device.revoke(), number)
        state.withLock { $0.counts.revokedHalfway += 1 }
        try Data().write(to: folder.revoked(number))
    }

    private func handOver(_ record: DeviceRecord, _ number: Int) async throws {
        guard let name = DeviceName(parsing: RunPlan.deviceName(number)) else { return }
        try await outbox.accept(record, of: name, at: .now())
        guard case .enrolled(let enrolled)? = try await outbox.device(name)?.keys else { return }
        for recipient in enrolled.unproven {
            let challenge = PendingChallenge(
                to: recipient, of: enrolled.enrollment, topic: Newsroom.topic, from: newsroom.sender, at: .now())
            let answer = try apps[number].device.answer(challenge: challenge.text)
            try await outbox.prove(challenge, answer: answer, of: name, at: .now())
        }
    }
}
