import Foundation

/// A command from the simulator to an extension's process: one JSON object per line, on its standard input.
enum ExtensionCommand: Codable {
    /// The first command: the environment to run in.
    case begin(ExtensionSetting)
    case deliver(number: Int, identifier: String, payload: Data)
    /// The time limit has passed.
    case expire
    /// The notifications on the phone; the response to ``ExtensionReport/asksForList``.
    case list([ExpansionRequest])
    /// The only request to a content extension's process.
    case expand(ExpansionRequest, number: Int)
}
