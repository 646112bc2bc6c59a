internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs

/// Runs a command until SIGINT or SIGTERM. `work` receives a function that waits for one of them. An error that `work`
/// throws becomes a message and an exit status.
func runUntilDone(_ work: @escaping @Sendable (_ ended: @escaping @Sendable () async -> Void) async throws -> Void)
    throws
{
    // As long as the work has only started, and at the second signal, the program ends immediately.
    let isEnding = Locked(true)
    let signals = [SIGINT, SIGTERM].map { number in
        Signal(number) {
            let isSecond = isEnding.withLock { isEnding in
                defer { isEnding = true }
                return isEnding
            }
            if isSecond { ProcessSignals.end(by: number) }
        }
    }
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Locked<(any Error)?>(nil)
    Task {
        do {
            try await work {
                isEnding.withLock { $0 = false }
                while !signals.contains(where: { $0.isReceived }) { try? await Task.sleep(for: .milliseconds(20)) }
            }
        } catch { outcome.withLock { $0 = error } }
        isDone.signal()
    }
    isDone.wait()
    if let error = outcome.withLock({ $0 }) { throw error }
}

/// A signal that is handled instead of ending the program.
final class Signal: @unchecked Sendable {
    // A dispatch source is thread-safe, but is declared Sendable only on Apple platforms.
    private let source: any DispatchSourceSignal
    private let count = Locked(0)

    /// - Parameter handler: called on any thread, once for each signal.
    init(_ number: Int32, handler: @escaping @Sendable () -> Void) {
        source = ProcessSignals.listen(to: number) { [count] in
            count.withLock { $0 += 1 }
            handler()
        }
    }

    var isReceived: Bool { count.withLock { $0 > 0 } }
}

func report(_ message: String) {
    let line = "device-simulator: \(TerminalText.printable(message))\n"
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
}

/// Returns an object as one line of JSON, with control characters escaped.
func jsonLine(_ object: [String: Any]) -> String {
    let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    return TerminalText.json(String(decoding: data ?? Data(), as: UTF8.self))
}

/// Prints one line. Throws if standard output can't be written, so that no script mistakes silence for success.
func printLine(_ text: String) throws { try OutputFile.print(Array((text + "\n").utf8)) }

extension CommandFailure {
    init(opening error: KeyringError) {
        guard error == .needsSecret(.passphrase) else {
            self.init(error)
            return
        }
        self.init(
            status: 77,
            message: """
                the keyring is sealed with a passphrase, which takes 64 MiB to open, but an extension has only 24; keep \
                simulated devices in a keyring that is sealed with a key (`sealedpush keys passphrase --new-unlock`)
                """)
    }

    init(_ error: LocalAPNsError) {
        switch error {
        case .folder, .certificate: self.init(status: 74, message: error.description)
        case .damaged: self.init(status: 65, message: error.description)
        case .notBound: self.init(status: 69, message: error.description)
        case .configuration: self.init(status: 64, message: error.description)
        }
    }
}

/// The output of `run`, a line or a box at a time. Thread-safe.
final class RunScreen: Sendable {
    private let json: Bool
    private let output = Locked(FileHandle.standardOutput)

    init(json: Bool) { self.json = json }

    func online(_ device: String, _ token: String) {
        write(["event": "online", "device": device, "token": token], ["\(device) is online, token \(token)"])
    }

    /// - Parameter account: The account's name; nil for the app's own.
    func enrolled(_ device: String, as name: String, for account: String?) {
        var object = ["event": "enrolled", "device": device, "name": name]
        object["account"] = account
        write(object, ["\(device) is enrolled as \(name)\(account.map { " for \($0)" } ?? "")"])
    }

    func offline(_ device: String) { write(["event": "offline", "device": device], ["\(device) is offline"]) }

    func unreachable(_ message: String) {
        write(
            ["event": "unreachable", "error": message], ["the local APNs can't be reached (\(message)); retrying"])
    }

    func show(_ device: String, _ notification: APNsNotification, _ push: DeliveredPush) {
        var object = push.jsonObject(file: "", identifier: notification.identifier)
        object["file"] = nil
        object["event"] = "notification"
        object["device"] = device
        object["apnsID"] = notification.apnsID
        let again = push.isReplacement ? ["  arrived again, and replaces the one on the screen"] : []
        write(object, LockScreen.lines(push, on: device) + again)
    }

    /// - Parameter lines: the text for people. Evaluated only if needed, because laying out a lock screen is slow.
    private func write(_ object: [String: Any], _ lines: @autoclosure () -> [String]) {
        let text = (json ? [jsonLine(object)] : lines()).joined(separator: "\n") + "\n"
        // If the output is closed, the device continues until it's told to stop.
        output.withLock { try? $0.write(contentsOf: Data(text.utf8)) }
    }
}
