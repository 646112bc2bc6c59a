internal import Foundation
internal import PushSender

/// Where a file will lie, as a person types it.
enum FileAddress {
    static let rule =
        "is https://…, where devices will find the file; http only to localhost, 127.0.0.1 or [::1], for the simulator."

    static func isUsable(_ text: String) -> Bool {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user() == nil else { return false }
        let isLocal = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host.lowercased())
        return url.scheme?.lowercased() == "https" || (url.scheme?.lowercased() == "http" && isLocal)
    }
}
