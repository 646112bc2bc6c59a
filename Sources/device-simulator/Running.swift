internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import PushKeyring
internal import PushSimulator
internal import SimulatedAPNs
internal import _PushBase

/// Runs a command that goes on until SIGINT or SIGTERM: the work is given a function that waits for one. What it throws
/// becomes a message and an exit status.
func runUntilDone(_ work: @escaping @Sendable (_ ended: @escaping @Sendable () async -> Void) async throws -> Void)
    throws
{
    let signals = [SIGINT, SIGTERM].map { Signal($0) }
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Locked<(any Error)?>(nil)
    Task {
        do {
            try await work {
                while !signals.contains(where: { $0.isReceived }) { try? await Task.sleep(for: .milliseconds(20)) }
            }
        } catch {
            outcome.withLock { $0 = error }
        }
        isDone.signal()
    }
    isDone.wait()
    guard let error = outcome.withLock({ $0 }) else { return }
    guard let failure = error as? Failure else { throw error }
    report(failure.message)
    throw ExitCode(failure.status)
}

/// A signal that is looked for instead of ending the program.
final class Signal: @unchecked Sendable {
    // A dispatch source is safe from several threads, and says so on Apple's systems only.
    private let source: any DispatchSourceSignal
    private let count = Locked(0)

    /// - Parameter handler: called on a thread of the system's choice, each time.
    init(_ number: Int32, handler: @escaping @Sendable () -> Void = {}) {
        signal(number, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { [count] in
            count.withLock { $0 += 1 }
            handler()
        }
        source.resume()
    }

    var isReceived: Bool { count.withLock { $0 > 0 } }
}

func report(_ message: String) {
    try? FileHandle.standardError.write(contentsOf: Data("device-simulator: \(message)\n".utf8))
}

/// An error where standard output can't be written, so that no script takes silence for success.
func printLine(_ text: String) throws {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    } catch {
        throw Failure(status: 74, message: "standard output can't be written")
    }
}

extension Failure {
    init(opening error: KeyringError) {
        guard error == .needsSecret(.passphrase) else {
            self.init(error)
            return
        }
        self.init(
            status: 77,
            message: """
                the keyring is sealed with a passphrase, which takes 64 MiB to open, and an extension has 24: keep \
                simulated devices in a keyring that is sealed with a key (`sealedpush keys passphrase --new-key-file`)
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
