struct ExtensionResult: Sendable {
    var ending: Ending
    /// The time until the answer, or until it became clear that there would be none.
    var elapsed: Duration
    /// The process's own peak memory during this request, in bytes; nil if it has no separate process.
    var peakMemoryByteCount: Int?
    var remarks: [String] = []

    enum Ending: Equatable, Sendable {
        case returned(ShownNotification)
        case expanded(ShownExpansion)
        /// The process exited, or was ended by a signal, before it called the handler; the text describes how.
        case ended(String)
        /// The handler wasn't called in time, and the process was killed.
        case timedOut
        /// The process used too much memory and was killed.
        case overMemory
        /// The system killed the process for another reason, given as text.
        case killed(String)
    }
}
