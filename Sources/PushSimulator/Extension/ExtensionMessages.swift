internal import Foundation

/// What the simulator tells an extension's process: one JSON object a line, on its standard input.
enum ExtensionCommand: Codable {
    /// First of all: where it is.
    case begin(ExtensionSetting)
    case deliver(ExtensionRequest)
    /// The system's time is up.
    case expire
    /// Of a content extension's process, the only one.
    case expand(ExpansionRequest)
}

/// What holds for all requests of a process.
struct ExtensionSetting: Codable, Sendable {
    var device: SimulatedDevice
    /// What the simulator's own extension is configured with; an app's has its own configuration.
    var standard: StandardConfiguration?
    /// Of the process, in bytes; nil where it is not told.
    var memoryLimit: Int?
}

/// One notification to be worked on.
struct ExtensionRequest: Codable, Sendable {
    /// Of this process's requests; every answer carries it.
    var number: Int
    /// What `UNNotificationRequest.identifier` is.
    var identifier: String
    /// The payload's JSON.
    var payload: Data
}

/// What an extension's process tells the simulator: one JSON object a line, on what was its standard output.
enum ExtensionReport: Codable {
    case answer(ExtensionAnswer)
    /// The handler was called, `didReceive` has returned, and nothing is left to be tidied up.
    case settled(number: Int)
    case expanded(ShownExpansion)
}

struct ExtensionAnswer: Codable, Sendable {
    /// The request's.
    var number: Int
    /// What the content handler was called with.
    var content: ShownNotification
    /// 1 for the first call of the handler; a second one is the extension's mistake.
    var callNumber: Int
    /// The process's own memory at that moment: anonymous and resident.
    var memoryByteCount: Int
}

/// The configuration of the extension that the simulator brings along.
package struct StandardConfiguration: Codable, Sendable {
    package var topic: String
    package var senders: [String]
    package var authorities: [String]
    package var safeDefault: String
    package var allowsAnonymous: Bool

    package init(
        topic: String, senders: [String], authorities: [String] = [], safeDefault: String, allowsAnonymous: Bool
    ) {
        self.topic = topic
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
        self.allowsAnonymous = allowsAnonymous
    }
}
