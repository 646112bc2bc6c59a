import Ccurl
import Foundation
import FuzzSupport

@testable import PushService

func checkAddress(_ text: String) {
    guard let url = URL(string: text) else { return }
    let rules = NetworkRules(allowsPrivateAddresses: false)
    guard (try? rules.check(url)) != nil else { return }
    demand(url.scheme?.lowercased() == "https", "the scheme of \(text) is allowed")
    // libcurl may refuse what the rules allow, and must not go elsewhere.
    guard let handle = curl_url() else { fatalError("libcurl has no memory") }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, url.absoluteString, 0) == CURLUE_OK else { return }
    var part: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, CURLUPART_HOST, &part, 0) == CURLUE_OK, let part else { return }
    defer { curl_free(part) }
    let host = bare(String(cString: part))
    let seen = bare(url.host(percentEncoded: true) ?? "")
    if let address = IPAddress(text: host) {
        demand(IPAddress(text: seen) == address && address.isPublic, "\(text) leads to \(host)")
    } else {
        demand(host == seen && host.contains("."), "\(text) leads to \(host), and \(seen) was looked at")
    }
}

/// In small letters, without the brackets of IPv6 and the dot of a full name.
private func bare(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    return host
}
