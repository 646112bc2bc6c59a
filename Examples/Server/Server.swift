import Foundation
import PushSender

/// A server that seals one message for one device and prints the request to APNs.
///
/// This example reads the device from the environment. A real server reads its state from the account's row in a database.
@main
struct Server {
    static func main() {
        do { try run() } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(65)
        }
    }

    private static func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let names = ["SENDER_SECRET", "DEVICE_STATE"]
        for name in names where environment[name, default: ""].isEmpty {
            let hint = "\(name) is missing; see Docs/ServerGuide.md, chapter 2, for its value.\n"
            FileHandle.standardError.write(Data(hint.utf8))
            exit(64)
        }
        let newsroom = try SenderPrivateKey(parsing: environment["SENDER_SECRET"] ?? "")
        let phone = try EnrolledDevice(state: environment["DEVICE_STATE"] ?? "")

        let sealer = Sealer(sender: newsroom, topic: "com.example.app", safeDefault: "You have a new message!")
        let payload = try sealer.seal(Content(title: "Nina", body: "Lunch at one?"), to: phone.recipient(at: .now()))

        print("apns-topic: \(payload.topic)")
        print("apns-id: \(payload.apnsID)")
        print("apns-collapse-id: \(payload.collapseID)")
        print(String(decoding: payload.json, as: UTF8.self))
    }
}
