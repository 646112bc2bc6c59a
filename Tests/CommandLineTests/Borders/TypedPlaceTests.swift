import ArgumentParser
import CommandSupport
import Foundation
import PushHTTP
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import SealedPushCommand

@Suite("A place that is typed", .blocking) struct TypedPlaceTests {
    private static let secret = "s3cr3t-Pw"

    /// The option is last; its value follows.
    private static let options: [(program: String, words: String)] =
        [
            "serve --from a --topic b --listen", "serve --from a --topic b --phones",
            "serve --from a --topic b --metrics",
            "serve --from a --topic b --outbox", "serve --from a --topic b --apns",
            "serve --from a --topic b --receipts",
            "serve --from a --topic b --apns x --proxy", "work --apns x --metrics", "work --apns x --proxy",
            "work --apns",
            "work --apns x --outbox", "send c.json --all --from a --topic b --apns", "doctor --ready",
            "doctor --host --apns",
            "doctor --host --apns x --proxy", "doctor --host --outbox", "device list --outbox",
            "outbox status --outbox",
            "attach p.png --output o --entry e --url", "seal c.json --from a --to b --topic c --receipts",
            "seal c.json --from a --to b --topic c --overflow-output o --overflow", "work --provider-key",
            "setup --in", "setup --in x --topic a --provider-key", "setup --in x --topic a --sender-key", "start --in",
            // No options: mistakes that the parser reports.
            "work --prox", "keys list", "keys list --json", "keys",
        ].map { ("sealedpush", $0) }
        + [
            "run --device a --topic b --state s --apns",
            "run --device a --topic b --state s --apns x --login y --server",
            "apns --folder", "trial --folder", "apns --folder x --page", "apns --folder x --port",
            "apns --folder x --key", "apns --pag",
            "deliver",
        ].map { ("device-simulator", $0) }

    /// Places with the secret in each position.
    private static let places = [
        "push:S@127.0.0.1:3128", "S@127.0.0.1:3128", "127.0.0.1:S", "127.0.0.1:3128@S", "127.0.0.1:3128?token=S",
        "[::1%S@x]:80", "[S]:80", "S:pw:80", "http://push:S@127.0.0.1:3128", "http://S@127.0.0.1:3128",
        "http://127.0.0.1:S", "push:S@127.0.0.1:3128/", "push:S@x.sock", "host=h password=S", "Authorization: Bearer S",
        "Bearer S", "-----BEGIN PRIVATE KEY----- S",
    ]

    /// Each option with each place, as two words and as one.
    private static let arguments: [(program: String, words: [String])] = options.flatMap { program, words in
        places.flatMap { place -> [(program: String, words: [String])] in
            let typed = place.replacing("S", with: secret)
            let words = words.split(separator: " ").map(String.init)
            let joined = words.last.flatMap { $0.hasPrefix("--") ? Array(words.dropLast()) + ["\($0)=\(typed)"] : nil }
            return [(program, words + [typed])] + (joined.map { [(program, $0)] } ?? [])
        }
    }

    @Test("never appears in an error if it has a secret in it, whatever the option") func secrets() {
        let all = Self.arguments.enumerated().filter { Thoroughness.isThorough || $0.offset.isMultiple(of: 5) }
        for (program, words) in all.map(\.element) where program == "sealedpush" {
            // The program's start refuses these without parsing them.
            guard !SecretArgument.isIn(words) else { continue }
            #expect("\(words)") {
                _ = try SealedPushCommand.parseAsRoot(words)
            } throws: { error in
                let (text, status) = SealedPushCommand.outcome(of: error, parsing: words)
                return status == 64 && !text.contains(Self.secret)
            }
        }
    }

    @Test("never appears in a program's output, either") func output() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"alert":{"body":"b"}}"#, to: "c.json")
        let before = try Checkout.allFiles(in: folder.url).count
        // No divisor of the number of places, so that a sample has each option and each place.
        let all = Self.arguments.enumerated().filter { Thoroughness.isThorough || $0.offset.isMultiple(of: 11) }
        #expect(all.count > 90)
        for (program, words) in all.map(\.element) {
            let result = try Program(program, in: folder.url).run(words)
            #expect(result.status == 64, "\(words): \(result.status) \(result.errors)")
            #expect(!(result.output + result.errors).contains(Self.secret), "\(words): \(result.errors)")
        }
        #expect(try Checkout.allFiles(in: folder.url).count == before)
    }

    @Test("is a host or an address, with a port") func hosts() {
        for (text, host, port) in [
            ("127.0.0.1:80", "127.0.0.1", 80), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65_535),
            ("Proxy-1.Example.com:3128", "proxy-1.example.com", 3_128), ("[fe80::1%eth0]:1", "fe80::1%eth0", 1),
            ("0.0.0.0:1", "0.0.0.0", 1), ("[::]:1", "::", 1), ("example.com.:1", "example.com.", 1),
        ] {
            let place = HostAndPort(parsing: text)
            #expect(place?.host == host && place?.port == port, "\(text)")
            #expect(ServerPlace(argument: text) == .address(host, port: port), "\(text)")
        }
        for text in [
            "", ":", ":80", "host", "host:", "host:x", "host:-1", "host:+1", "host:65536", "user@host:1", "a:b@host:1",
            "host:1@x", "::1:80", "[::1:80", "[host]:80", "[127.0.0.1]:80", "a b:1", "a/b:1", "a..b:1", "a?b:1", "é:1",
            "[::1%a@b]:1", "http://host:1", "host:1 ",
        ] {
            #expect(HostAndPort(parsing: text) == nil, "\(text)")
            if case .address? = ServerPlace(argument: text) { Issue.record("\(text)") }
        }
        for text in ["a.sock", "./a:b@c.sock", "/run/a@b/c.sock", "a/b"] {
            #expect(ServerPlace(argument: text) == .socket(text), "\(text)")
        }
    }

    @Test("as a proxy can't have a password, and no option is ignored") func ignored() throws {
        let program = Program("sealedpush")
        let proxy = try program.run("work", "--apns", "x", "--proxy", "push:hunter2@127.0.0.1:3128")
        #expect(proxy.status == 64 && proxy.errors.contains("a proxy with a password isn't supported"), "\(proxy)")
        for words in [
            "serve --from a --topic b --metrics-open", "serve --from a --topic b --proxy 127.0.0.1:1",
            "serve --from a --topic b --environment sandbox", "keys show pushenrollment1x --qr",
            "send c --all --from a --topic b --queue-only --proxy 127.0.0.1:1",
        ] {
            let result = try program.run(words.split(separator: " ").map(String.init))
            #expect(result.status == 64 && result.errors.contains("--"), "\(words): \(result)")
        }
        let picture = try Program("device-simulator").run(
            "deliver", "-", "--device", "a", "--topic", "b", "--app-name", "Chat")
        #expect(picture.status == 64 && picture.errors.contains("--picture"), "\(picture)")
    }
}
