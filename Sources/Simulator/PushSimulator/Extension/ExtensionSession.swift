internal import Foundation
internal import PushCore

/// The processes of one extension on one device, one after the other: a process that is there is used again, and one that
/// has ended is started anew for the next request.
///
/// Safe from several threads; requests that come at once are worked on at once.
final class ExtensionSession: Sendable {
    private let program: ExtensionProgram
    private let setting: ExtensionSetting
    private let rules: ExtensionRules
    private let state = Locked(State())

    private struct State {
        var current: RunningExtension?
        var lateRemarks: [String] = []
    }

    init(_ program: ExtensionProgram, setting: ExtensionSetting, rules: ExtensionRules) {
        self.program = program
        self.setting = setting
        self.rules = rules
    }

    deinit { state.withLock { $0.current }?.close() }

    /// Waits until the handler was called, the process has ended, or time is up.
    func run(identifier: String, payload: Data) throws(ExtensionProcessError) -> ExtensionResult {
        // It may have just ended, or have been idle for too long: then there is a new one the next time.
        for _ in 0..<3 {
            let process = try current()
            if let ticket = process.submit(identifier: identifier, payload: payload) { return ticket.wait() }
            retire(process)
        }
        return RunningExtension.neverBegun
    }

    /// Ends the process, which gets a moment for what it has not tidied up. Returns what extensions did wrong after their
    /// answers.
    func end() -> [String] {
        let process = state.withLock { state in
            defer { state.current = nil }
            return state.current
        }
        let remarks = process?.end() ?? []
        return state.withLock { state in
            defer { state.lateRemarks = [] }
            return state.lateRemarks + remarks
        }
    }

    /// The process there is, for tests.
    var processIdentifier: pid_t? { state.withLock { $0.current?.identifier } }

    private func current() throws(ExtensionProcessError) -> RunningExtension {
        try state.withLock { (state) throws(ExtensionProcessError) in
            if let current = state.current { return current }
            let process = try RunningExtension(program, setting: setting, rules: rules)
            state.current = process
            return process
        }
    }

    private func retire(_ process: RunningExtension) {
        state.withLock { state in
            guard state.current === process else { return }
            state.current = nil
            state.lateRemarks += process.lateRemarks
        }
    }
}
