internal import Foundation
internal import PushCrypto
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs

/// What `run` prints, a line or a box at a time; safe from several threads.
final class RunScreen: Sendable {
    private let json: Bool
    private let lock = Locked(())

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

    func show(_ device: String, _ notification: APNsNotification, _ push: DeliveredPush, replaced: Bool = false) {
        var object = push.jsonObject(file: "", identifier: notification.identifier)
        object["file"] = nil
        object["event"] = "notification"
        object["device"] = device
        object["apnsID"] = notification.apnsID
        object["replaced"] = replaced
        let detail = [push.outcome.rawValue, push.reason, push.note].compactMap { $0 }.joined(separator: ": ")
        let time = push.elapsed.map { ", \($0.formatted(.units(allowed: [.milliseconds])))" } ?? ""
        write(
            object,
            LockScreen.box(title: device, LockScreen.paragraphs(push)) + [
                "  \(TerminalText.printable(detail))\(time)"
            ])
    }

    private func write(_ object: [String: Any], _ lines: [String]) {
        var lines = lines
        if json {
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
            guard let data = try? JSONSerialization.data(withJSONObject: object, options: options) else { return }
            lines = [TerminalText.json(String(decoding: data, as: UTF8.self))]
        }
        let text = lines.joined(separator: "\n") + "\n"
        lock.withLock { _ in
            // Nobody reads any more: the device goes on until it is told to end.
            try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
    }
}
