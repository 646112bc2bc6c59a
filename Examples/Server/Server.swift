import Foundation
import PushSender

/// A server's end: seals one message for one device and prints the request to APNs.
@main
struct Server {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        let newsroom = try SenderKey(parsing: environment["SENDER_SECRET"] ?? "")
        let phone = try Recipient(parsing: environment["RECIPIENT"] ?? "")

        let sealer = Sealer(sender: newsroom, topic: "com.example.app", safeDefault: "You have a new message!")
        let payload = try sealer.seal(Content(title: "Nina", body: "Lunch at one?"), toUnverified: phone)

        print("apns-topic: \(payload.topic)")
        print("apns-id: \(payload.apnsID)")
        print("apns-collapse-id: \(payload.collapseID)")
        print(String(decoding: payload.json, as: UTF8.self))
    }
}
