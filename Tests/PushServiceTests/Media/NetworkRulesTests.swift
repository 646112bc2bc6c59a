import Foundation
import Testing

@testable import PushService

@Suite("Where an extension goes")
struct NetworkRulesTests {
    private func refusal(_ text: String, private isPrivate: Bool = false) -> MediaError? {
        let rules = NetworkRules(allowsPrivateAddresses: isPrivate)
        do throws(MediaError) { try rules.check(URL(string: text)!) } catch { return error }
        return nil
    }

    @Test(
        "private, local and reserved addresses are refused, however they are written",
        arguments: [
            "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255",
            "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1",
            "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:c0a8:101::]",
            "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[2001:db8::1]", "[::7f00:1]", "localhost",
            "LOCALHOST", "printer.local", "nas.lan", "router", "vault.internal", "box.home.arpa", "a.localhost",
            "localhost.",
            "192.168.1.1.",
        ])
    func refused(host: String) {
        #expect(refusal("https://\(host)/file") == .addressRefused)
        #expect(refusal("https://\(host):8443/file", private: true) == nil)
        #expect(refusal("http://\(host)/file") == .notSecure)
    }

    @Test(
        "the open internet is reached with https alone",
        arguments: [
            "example.com", "1.1.1.1", "172.15.0.1", "172.32.0.1", "[2606:4700::1111]", "[2001:4860:4860::8888]",
            "[64:ff9b::101:101]", "xn--bcher-kva.example", "100.128.0.1", "files.example.co.uk.",
        ])
    func reached(host: String) {
        #expect(refusal("https://\(host)/file") == nil)
        #expect(refusal("http://\(host)/file") == .notSecure)
        #expect(refusal("http://\(host)/file", private: true) == .notSecure)
    }

    @Test(
        "a host that a loader might take for another is refused",
        arguments: [
            "%EF%BC%91%EF%BC%99%EF%BC%92.0.2.2", "192%EF%BC%8E0.2.2", "%E2%91%A092.0.2.2", "192.0.2.2%2F.example.com",
            "192.0.2.2%23.example.com", "192.0.2.2%40example.com", "192.0.2.2..", "a..example.com", "[v1.fe]",
            "exa_mple.com", "user@example.com", "user:password@192.0.2.2", ":@example.com",
        ])
    func oddHosts(host: String) {
        guard let url = URL(string: "https://\(host)/file") else { return }
        let rules = NetworkRules(allowsPrivateAddresses: true)
        #expect(throws: MediaError.addressRefused) { try rules.check(url) }
    }
}
