import SealedPush
import Testing

@Suite("Where receipts go")
struct ReceiptAddressTests {
    @Test(
        "is an https URL",
        arguments: [
            "https://push.example.com/receipts", "https://a", "https://a.example:8443/r?app=1&x=%20",
            "https://10.0.0.1/",
            "https://[2001:db8::1]:443/r", "HTTPS://".lowercased() + String(repeating: "a", count: 248),
        ])
    func secure(text: String) throws {
        let address = try #require(ReceiptAddress(parsing: text))
        #expect(address.description == text)
    }

    @Test(
        "is plain http to this machine alone",
        arguments: ["http://127.0.0.1:80/r", "http://localhost/", "http://[::1]:8093", "http://LOCALHOST:1/"])
    func loopback(text: String) { #expect(ReceiptAddress(parsing: text) != nil) }

    @Test(
        "is nothing else",
        arguments: [
            "", "https://", "https:///r", "https://:443/", "http://push.example.com/", "http://127.0.0.2/",
            "http://localhost.example.com/", "http://localhost@example.com/", "https://a@example.com/", "ftp://a/",
            "HTTPS://a/", "https://a/#f", "https://a /", " https://a/", "https://a/\n", "https://é.example/",
            "https://a:0/", "https://a:65536/", "https://a:+80/", "https://a:080/", "https://a:/", "https://[::1",
            "https://[::1]x/", "https://a\\b/", "https://a_b/", "https://a%41/", "//a/", "https://[]/",
            "https://a/\u{7f}", "https://" + String(repeating: "a", count: 249), "file:///etc/passwd",
        ])
    func others(text: String) { #expect(ReceiptAddress(parsing: text) == nil, "\(text)") }
}
