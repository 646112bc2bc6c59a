import Foundation
import FuzzSupport

@testable import PushSender
@testable import SealedPush

/// A device posts with a loader that reads the address in its own way: it must find the same host there.
func checkAddress(_ text: String) {
    guard let address = ReceiptAddress(parsing: text) else { return }
    demand(address.description == text && text.utf8.count <= 256, "an address is another")
    let isLoopback = ReceiptAddress.loopbackHosts.contains(address.host)
    demand(address.isSecure || isLoopback, "receipts go unencrypted to \(address.host)")
    guard let url = URL(string: text) else { return }
    demand(url.scheme == (address.isSecure ? "https" : "http"), "\(text) has the scheme \(url.scheme ?? "none")")
    demand(url.user() == nil && url.password() == nil, "\(text) has a user")
    let host = (url.host() ?? "").lowercased()
    let bare = address.host.hasPrefix("[") ? String(address.host.dropFirst().dropLast()) : address.host
    demand(host == bare || host == address.host, "\(text) has the host \(host), and not \(address.host)")
}

func checkRequest(_ bytes: [UInt8]) {
    guard let members = JSONReader.object(bytes, maximumByteCount: 4_096),
        let request = try? ReceiptRequest(.object(members))
    else { return }
    demand((try? ReceiptRequest(request.json)) == request, "written and read again it is another")
    demand(request.key.count == 32 && request.id.bytes.count == 16, "a key or ID of another length")
    checkAddress(request.address.description)
}
