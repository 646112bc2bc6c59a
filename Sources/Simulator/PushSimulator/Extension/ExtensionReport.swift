/// A report from an extension's process to the simulator: one JSON object per line, on its original standard output.
enum ExtensionReport: Codable {
    /// The content passed to the handler, the process's own memory at that moment, and the number of the call.
    /// A second call is a mistake by the extension.
    case answer(number: Int, content: ShownNotification, callNumber: Int, memoryByteCount: Int)
    /// The handler was called, `didReceive` has returned, and all cleanup is done.
    case settled(number: Int)
    case expanded(number: Int, view: ShownExpansion)
    case asksForList
}
