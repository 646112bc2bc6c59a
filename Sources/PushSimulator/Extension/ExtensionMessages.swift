public import Foundation

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

/// A device: its keys and its shared container.
public struct SimulatedDevice: Codable, Sendable {
    /// The keyring's folder, and the device's name in it.
    public var keyring: URL
    public var name: String
    /// Where the key of a sealed keyring is; nil where it is in the environment, or the keyring is not sealed. The key
    /// itself never travels.
    public var keyFile: URL?
    /// Stands for every app group.
    public var container: URL
    /// Not unlocked since it started: the keychain can't be read.
    public var isLocked: Bool

    /// The extension's own temporary folder: what it leaves there is found there.
    public var temporaryFolder: URL { container.absoluteURL.appending(path: "tmp", directoryHint: .isDirectory) }

    /// What an extension's process finds in its environment, besides the simulator's own.
    var processEnvironment: [String: String] {
        // glibc keeps a pool for each thread, some megabytes in all: Apple's allocator does not, and it is not the
        // extension's doing.
        ["TMPDIR": temporaryFolder.path(percentEncoded: false), "MALLOC_ARENA_MAX": "1"]
    }

    public init(keyring: URL, name: String, keyFile: URL? = nil, container: URL, isLocked: Bool) {
        self.keyring = keyring
        self.name = name
        self.keyFile = keyFile
        self.container = container
        self.isLocked = isLocked
    }
}

/// The configuration of the extension that the simulator brings along.
public struct StandardConfiguration: Codable, Sendable {
    public var topic: String
    public var senders: [String]
    public var authorities: [String]
    public var safeDefault: String
    public var allowsAnonymous: Bool

    public init(
        topic: String, senders: [String], authorities: [String] = [], safeDefault: String, allowsAnonymous: Bool
    ) {
        self.topic = topic
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
        self.allowsAnonymous = allowsAnonymous
    }
}
