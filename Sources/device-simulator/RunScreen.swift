internal import Foundation
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs
internal import _PushBase

/// What `run` prints, a line or a box at a time; safe from several threads.
final class RunScreen: Sendable {
    private let json: Bool
    private let output = Locked(FileHandle.standardOutput)

    init(json: Bool) { self.json = json }

    func online(_ device: String, _ tokens: [String]) {
        for token in tokens {
            write(["event": "online", "device": device, "token": token], ["\(device) is online, token \(token)"])
        }
    }

    func offline(_ device: String) {
        write(["event": "offline", "device": device], ["\(device) is offline"])
    }

    func unreachable(_ message: String) {
        write(
            ["event": "unreachable", "error": message], ["the local APNs can't be reached (\(message)); trying again"])
    }

    func show(_ device: String, _ notification: APNsNotification, _ push: DeliveredPush, replaced: Bool) {
        var object = push.jsonObject(file: "", identifier: notification.identifier)
        object["file"] = nil
        object["event"] = "notification"
        object["device"] = device
        object["apnsID"] = notification.apnsID
        object["replaced"] = replaced
        let again = replaced ? ["  came again: it takes the place of the one on the screen"] : []
        write(object, LockScreen.lines(push, on: device) + again)
    }

    /// - Parameter lines: for people; laying out a lock screen takes long, and is left out where nobody looks.
    private func write(_ object: [String: Any], _ lines: @autoclosure () -> [String]) {
        let text = (json ? [TerminalText.json(Self.json(object))] : lines()).joined(separator: "\n") + "\n"
        // Where nobody reads any more, the device goes on until it is told to end.
        output.withLock { try? $0.write(contentsOf: Data(text.utf8)) }
    }

    /// In the order of the names. Foundation's own way of sorting them takes longer than opening a message.
    private static func json(_ object: [String: Any]) -> String {
        var writer = JSONWriter()
        writer.object { members in
            for (name, value) in object.sorted(by: { $0.key < $1.key }) {
                members.value(named: name, JSONValue(ofFoundation: value))
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONValue {
    /// What Foundation's JSON is made of; anything else is null.
    fileprivate init(ofFoundation value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let texts as [String]: self = .array(texts.map { .string($0) })
        case is NSNull: self = .null
        // A number of Foundation's would pass for a Bool where it is 0 or 1: these two are Swift's own.
        case let flag as Bool where type(of: value) == Bool.self: self = .bool(flag)
        case let number as any BinaryInteger: self = .integer(Int64(clamping: number))
        default:
            let data = try? JSONSerialization.data(withJSONObject: ["value": value])
            let members = JSONReader.object(Array(data ?? Data()), maximumByteCount: 65_536)
            self = members?["value"] ?? .null
        }
    }
}
