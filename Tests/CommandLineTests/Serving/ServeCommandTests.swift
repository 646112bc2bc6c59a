import Foundation
import Glibc
import PushKeyring
import PushService
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush serve", .blocking) struct ServeCommandTests {
    private static let token = String(repeating: "0123456789abcdef", count: 2)

    @Test("accepts a message at its socket, delivers it, counts it, and ends gracefully")
    func delivers() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone", user: "alice")
        let hasIPv6 = (try? Checkout.text(URL(filePath: "/proc/net/if_inet6")))?.contains(" lo") == true
        let deliver = ["--apns", "APNs", "--metrics", hasIPv6 ? "[::1]:0" : "127.0.0.1:0"]
        let served = try await ServedCommand.start(fixture, deliver + ["--listen", "own.sock"])
        #expect(served.place["socket"] as? String == "own.sock")
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.folder.appending("own.sock").path)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
        let message = #"{"user":"alice","content":{"alert":{"title":"Nina","body":"kumquat"}},"key":"k"}"#
        let sent = try served.ask("/v1/messages", message)
        #expect(sent.status == "202" && sent.body.contains(#""enqueued":1"#), "\(sent.body)")
        try await eventually("the push is accepted") {
            try served.ask("/v1/outbox").body.contains(#""accepted":1"#)
        }
        let address = try #require(served.errors.firstMatch(of: /metrics are at (http:[^ \n]+)/)?.1)
        let figures = try served.curl(String(address))
        #expect(figures.status == "200")
        #expect(try served.curl("-I", String(address)).status == "200")
        for line in [
            #"push_deliveries_total{outcome="accepted",reason=""} 1"#, "push_outbox_waiting 0", "push_outbox_devices 1",
            #"push_requests_total{outcome="accepted"} 1"#, "push_request_duration_seconds_count 1",
            "push_delivery_wait_seconds_count 1", #"push_delivery_wait_seconds_bucket{le="86400"} 1"#,
            #"push_server_requests_total{route="/v1/messages",method="POST",status="202"} 1"#,
        ] { #expect(figures.body.contains("\n\(line)\n"), "\(line)\n\(figures.body)") }
        #expect(!figures.body.contains("alice") && !figures.body.contains("kumquat"))
        for (file, count) in [("alerts.yml", 10), ("dashboard.json", 17)] {
            let text = try Checkout.text(Checkout.folder.appending(path: "Docs/\(file)"))
            let named = Set(text.matches(of: /push_[a-z_]+/).map { String($0.0) })
            #expect(named.count == count, "\(file)")
            // Metrics without a value here, because no push was refused and there is no expiry.
            let absent = ["push_outbox_refused", "push_certificate_expiry_seconds", "push_sender_set_expiry_seconds"]
            for name in named.subtracting(absent) {
                #expect(figures.body.contains("\n\(name)"), "\(name) is not a metric")
            }
        }
        for name in figures.body.matches(of: /# TYPE (\w+)/).map(\.1) {
            #expect(figures.body.contains("# HELP \(name) "), "\(name)")
        }
        #expect(served.stop() == .exited(0), "\(served.errors)")
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.appending("own.sock").path))
        #expect(!served.errors.contains("kumquat") && !served.errors.contains("alice"))
    }

    @Test("a phone enrolls with one call by its app, and shows a message that the service sealed") func phone()
        async throws
    {
        let fixture = try await SendingFixture()
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--phones", "127.0.0.1:0"])
        let number = try #require((served.place["phones"] as? [String: Any])?["port"] as? Int)
        let login = try served.ask("/v1/logins", #"{"user":"alice"}"#)
        let token = try #require(
            try (JSONSerialization.jsonObject(with: Data(login.body.utf8)) as? [String: Any])?["token"] as? String)
        let newsroom = try fixture.keyring.senderKey(named: "newsroom").sender.description
        let phone = SimulatedDevice(container: fixture.folder.appending("Phone"))
        let standard = StandardConfiguration(
            topic: SendingFixture.topic, senders: [newsroom], safeDefault: "safe default", allowsAnonymous: false)
        let app = try #require(phone.app(standard, fetcher: CurlFetching(patience: .seconds(600))))
        let client = PushServerClient(url: try #require(URL(string: "http://127.0.0.1:\(number)"))) {
            "Bearer \(token)"
        }
        let update = await client.register(app, token: [1, 2, 3], environment: .production, at: .now())
        #expect(update.isRegistered && update.problems.isEmpty, "\(update.problems)")
        let device = try #require(update.device)
        let message = #"{"device":"\#(device)","content":{"alert":{"title":"Nina","body":"kumquat"}}}"#
        let sealed = try served.ask("/v1/seal", message)
        let answer = try JSONSerialization.jsonObject(with: Data(sealed.body.utf8)) as? [String: Any]
        let push = try fixture.folder.write(try #require(answer?["payload"] as? String), to: "push.apns")
        let shown = try Program("device-simulator", in: fixture.folder.url).run(
            [
                "deliver", push, "--device", "any", "--trust", newsroom, "--topic", SendingFixture.topic, "--state",
                "Phone",
            ] + ["--json", "--keyring", "Keys"])
        #expect(shown.objects.first?["body"] as? String == "kumquat", "\(shown.output) \(shown.errors)")
        #expect(served.stop() == .exited(0))
    }

    @Test("serves TLS at an address, and rereads tokens on SIGHUP") func secure() async throws {
        let fixture = try await SendingFixture()
        try certificate(in: fixture)
        try ServedCommand.write("\(Self.token)\n", to: "token", fixture)
        let (now, newsroom) = (Timestamp.now(), try fixture.keyring.senderKey(named: "newsroom").sender)
        let set = try SenderSet(
            of: [newsroom], topic: Topic(stringLiteral: SendingFixture.topic), counter: 1, created: now,
            expires: now.advanced(bySeconds: 86_400), signedBy: AuthorityPrivateKey())
        try ServedCommand.write(set.description, to: "set", fixture)
        let tls = ["--tls", "cert.pem,key.pem", "--token-file", "token", "--sender-set", "set"]
        let listen = ["--listen", "0.0.0.0:0", "--metrics", "127.0.0.1:0"]
        let served = try await ServedCommand.start(fixture, tls + listen)
        var address: String?
        try await eventually("metrics") {
            address = served.errors.firstMatch(of: /metrics are at (http:[^ \n]+)/).map { String($0.1) }
            return address != nil
        }
        let figures = try served.curl(address ?? "").body
        #expect(figures.contains("\npush_sender_set_expiry_seconds \(set.expires.secondsSince1970)\n"), "\(figures)")
        let expiry = figures.firstMatch(of: /\npush_certificate_expiry_seconds ([0-9]+)\n/).flatMap { Int64($0.1) }
        let (day, end) = (Int64(86_400), try #require(expiry))
        #expect((now.secondsSince1970 + day...now.secondsSince1970 + 3 * day).contains(end))
        let port = try #require(served.place["port"] as? Int)
        let outbox = "https://localhost:\(port)/v1/outbox"
        let header = "Authorization: Bearer "
        #expect(try served.curl("--cacert", "cert.pem", outbox, "-H", header + Self.token).status == "200")
        #expect(try served.curl("--cacert", "cert.pem", outbox).status == "401")
        #expect(try served.curl("http://localhost:\(port)/v1/outbox", "-H", header + Self.token).status == "000")
        #expect(
            try served.curl("--cacert", "cert.pem", "--tls-max", "1.1", outbox, "-H", header + Self.token).status
                == "000")
        let new = String(Self.token.reversed())
        try ServedCommand.write("\(Self.token)\n\(new)\n", to: "token", fixture)
        Glibc.kill(served.process.identifier, SIGHUP)
        try await eventually("the new token is valid") {
            try served.curl("--cacert", "cert.pem", outbox, "-H", header + new).status == "200"
        }
        #expect(try served.curl("--cacert", "cert.pem", outbox, "-H", header + Self.token).status == "200")
        // If the file can't be reread, the tokens stay the same.
        try ServedCommand.write("short\n", to: "token", fixture)
        Glibc.kill(served.process.identifier, SIGHUP)
        try await eventually("the file is reread") { served.errors.contains("could not be reread") }
        #expect(try served.curl("--cacert", "cert.pem", outbox, "-H", header + new).status == "200")
        #expect(served.stop() == .exited(0))
        #expect(!served.errors.contains(Self.token) && !served.errors.contains(new))
    }

    @Test("admits a token for notifications, and rereads these tokens on SIGHUP") func notifying() async throws {
        let fixture = try await SendingFixture()
        let tokens = ["c", "d"].map { String(repeating: $0, count: 64) }
        let lines = try tokens.map { token in
            let output = try Program(at: "/usr/bin/sha256sum").run([], input: token).output
            return "\(output.prefix(64)) name-of-\(token.prefix(1)) anna\n"
        }
        try ServedCommand.write("\(Self.token)\n", to: "token", fixture)
        try ServedCommand.write(lines[0], to: "notify", fixture)
        let served = try await ServedCommand.start(
            fixture, ["--listen", "127.0.0.1:0", "--token-file", "token", "--notify-tokens", "notify", "--verbose"])
        let url = "http://127.0.0.1:\(try #require(served.place["port"] as? Int))/v1/notify/anna"
        // No device is registered, so an admitted request gets 404.
        let statuses = {
            try tokens.map { try served.curl(url, "-d", "kumquat", "-H", "Authorization: Bearer \($0)").status }
        }
        #expect(try statuses() == ["404", "401"])
        try ServedCommand.write(lines[1], to: "notify", fixture)
        served.signal()
        try await eventually("the new file is read") { try statuses() == ["401", "404"] }
        // If the file can't be reread, the tokens stay the same.
        try ServedCommand.write(lines[0] + "kumquat\n", to: "notify", fixture)
        served.signal()
        try await eventually("the file is reread") {
            served.errors.contains("the tokens for notifications could not be reread")
        }
        #expect(served.errors.contains("line 2 must be"))
        #expect(try statuses() == ["401", "404"])
        try ServedCommand.write("", to: "notify", fixture)
        served.signal()
        try await eventually("the last token is removed") { try statuses() == ["401", "401"] }
        #expect(served.stop() == .exited(0))
        for secret in tokens + lines.map({ String($0.prefix(64)) }) + ["kumquat", "anna"] {
            #expect(!served.errors.contains(secret), "\(served.errors)")
        }
    }

    @Test("serves TLS at every address, a local one too, and `doctor --ready` asks there")
    func secureLocally() async throws {
        let fixture = try await SendingFixture()
        try certificate(in: fixture)
        try ServedCommand.write("\(Self.token)\n", to: "token", fixture)
        for listen in ["127.0.0.1:0", "own.sock"] {
            let served = try await ServedCommand.start(
                fixture,
                ["--listen", listen, "--phones", "127.0.0.1:0", "--tls", "cert.pem,key.pem", "--token-file", "token"])
            let ports = [served.place["port"], (served.place["phones"] as? [String: Any])?["port"]]
                .compactMap { $0 as? Int }
            #expect(ports.count == (listen == "own.sock" ? 1 : 2))
            for port in ports {
                let place = "127.0.0.1:\(port)"
                #expect(try served.curl("--cacert", "cert.pem", "https://\(place)/healthz").status == "200")
                #expect(try served.curl("http://\(place)/healthz").status == "000")
            }
            let ready = try fixture.run(["doctor", "--ready", ports.count > 1 ? "127.0.0.1:\(ports[0])" : listen])
            #expect(ready.status == 0 && ready.output.contains("is ready"), "\(ready.output)\(ready.errors)")
            #expect(served.stop() == .exited(0))
        }
    }

    @Test("says which file of --tls is wrong, and how; skips a byte order mark") func certificates() async throws {
        let fixture = try await SendingFixture()
        let made = try Program(at: "/bin/sh", in: fixture.folder.url).run("-c", Self.certificates)
        try #require(made.status == 0, "\(made.errors)")
        let words = [
            "serve", "--topic", SendingFixture.topic, "--keyring", "Keys", "--from", "newsroom", "--listen", "./s",
            "--phones", "127.0.0.1:0", "--tls",
        ]
        let cases = [
            ("a.pem,b.key", "b.key is not the key of this certificate"), ("a.pem,enc.key", "enc.key is encrypted"),
            ("a.pem,old.key", "old.key is encrypted"), ("der.pem,a.key", "der.pem is not PEM"),
            ("a.pem,der.pem", "der.pem is not PEM"), ("order.pem,a.key", "order.pem has the wrong order"),
            ("a.pem,a.pem", "a.pem contains a certificate, not a key"), ("a.key,a.pem", "a.key contains a key"),
            ("empty.pem,a.key", "empty.pem is empty"), ("a.pem,empty.pem", "empty.pem is empty"),
            ("cut.pem,a.key", "cut.pem contains a certificate that is damaged"),
            ("a.pem,cut.key", "cut.key contains a key that is damaged"),
        ]
        for (files, sentence) in cases {
            let result = try fixture.run(words + [files])
            #expect(result.status == 65 && result.errors.contains("--tls: \(sentence)"), "\(files): \(result.errors)")
        }
        for files in ["mark.pem,a.key", "mark.pem,mark.key", "both.pem,both.pem", "expired.pem,expired.key"] {
            let served = try await ServedCommand.start(
                fixture, ["--listen", "own.sock", "--phones", "127.0.0.1:0", "--tls", files])
            #expect(served.errors.contains("expired.pem has expired") == files.contains("expired"))
            #expect(served.stop() == .exited(0), "\(files)")
        }
    }

    private static let certificates = """
        set -e
        make() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -out $1.pem -days 9 -subj /CN=$1; }
        make a
        make b
        openssl pkcs8 -topk8 -in a.key -out enc.key -passout pass:x
        openssl ec -in a.key -aes128 -out old.key -passout pass:x
        openssl x509 -in a.pem -outform der -out der.pem
        cat b.pem a.pem > order.pem
        for kind in pem key; do { printf '\\357\\273\\277'; cat a.$kind; } > mark.$kind; { head -n 2 a.$kind; tail -n 1 a.$kind; } > cut.$kind; done
        cat a.pem a.key > both.pem
        : > empty.pem
        openssl req -new -key a.key -subj /CN=a -out a.csr
        cp a.key expired.key
        openssl x509 -req -in a.csr -signkey a.key -out expired.pem -days -1
        chmod 600 *.key *.pem
        """

    private func certificate(in fixture: SendingFixture) throws {
        let made = try Program(at: "/usr/bin/openssl", in: fixture.folder.url).run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem",
            "-out", "cert.pem")
        #expect(made.status == 0, "\(made.errors)")
    }

    private static let nginx = "/usr/sbin/nginx"

    @Test(
        "phones reach only their own paths through Operations' nginx; a proxy before the back end's socket is refused",
        .enabled(if: Thoroughness.isThorough && FileManager.default.isExecutableFile(atPath: nginx)))
    func proxied() async throws {
        let fixture = try await SendingFixture()
        try certificate(in: fixture)
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--phones", "127.0.0.1:0"])
        let port = try #require((served.place["phones"] as? [String: Any])?["port"] as? Int)
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/Operations.md"))
        let block = page.components(separatedBy: "\n```nginx\n").dropFirst().first?.components(separatedBy: "\n```")[0]
        let folder = fixture.folder.url.path
        let server = try #require(block).replacing("listen 443 ssl", with: "listen unix:\(folder)/phones.sock ssl")
            .replacing(":8480", with: ":\(port)").replacing(/\/etc\/push\/(chain|key)/) { match in
                "\(folder)/\(match.1 == "key" ? "key" : "cert")"
            }
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let configuration = try fixture.folder.write(
            """
            \(geteuid() == 0 ? "user root;" : "")
            daemon off; pid \(folder)/nginx.pid; error_log \(folder)/nginx.log; events {}
            http { access_log off; \(paths.joined(separator: " "))
            \(server)
            server {
                listen unix:\(folder)/back-end.sock;
                location / {
                    proxy_pass http://unix:\(folder)/own.sock;
                    proxy_set_header X-Forwarded-For $remote_addr;
                }
            } }
            """, to: "nginx.conf")
        let proxy = try Program(at: Self.nginx).start(["-c", configuration, "-e", "\(folder)/nginx.log"])
        defer {
            Glibc.kill(proxy.identifier, SIGTERM)
            _ = proxy.wait()
        }
        let login = try served.ask("/v1/logins", #"{"user":"alice"}"#).body
        let token = try #require(login.firstMatch(of: /"token":"([^"]+)"/)?.1)
        let ask = { (path: String, words: [String]) in
            try served.curl(["-k", "--unix-socket", "phones.sock", "https://push.example.com\(path)"] + words)
        }
        let header = ["-H", "Authorization: Bearer \(token)"]
        try await eventually("the proxy answers") {
            let words = try Checkout.text(fixture.folder.appending("nginx.log"))
            try #require(!proxy.hasEnded, "\(words)")
            return try ask("/v1/sender-set", header).status != "000"
        }
        #expect(try ask("/v1/sender-set", header).status == "204")
        #expect(try ask("/v1/sender-set", []).status == "401")
        for path in ["/v1/logins", "/v1/messages", "/healthz"] {
            #expect(try ask(path, header + ["--json", "{}"]).status == "404", "\(path)")
        }
        let back = try served.curl("--unix-socket", "back-end.sock", "http://localhost/v1/outbox")
        #expect(back.status == "403" && back.body.contains("behind-a-proxy"), "\(back.body)")
        #expect(served.stop() == .exited(0))
    }

    @Test("responds while two thousand callers hold silent connections, and recovers when they leave")
    func crowd() async throws {
        let fixture = try await SendingFixture()
        try ServedCommand.write("\(Self.token)\n", to: "token", fixture)
        let served = try await ServedCommand.start(fixture, ["--listen", "127.0.0.1:0", "--token-file", "token"])
        let port = String(try #require(served.place["port"] as? Int))
        let result = try Program(at: "/usr/bin/python3").run("-c", Self.callers, port)
        #expect(result.status == 0 && result.trimmed == "200 200 200", "\(result.output) \(result.errors)")
        #expect(served.stop() == .exited(0))
    }

    private static let callers = """
        import http.client, resource, socket, sys
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        port = int(sys.argv[1])
        def ask():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        first = ask()
        held = []
        for index in range(2000):
            one = socket.create_connection(("127.0.0.1", port), 300)
            if index % 2: one.send(b"POST /v1/messages HTTP/1.1\\r\\nHost: ")
            held.append(one)
        second = ask()
        for one in held: one.close()
        print(first, second, ask())
        """

    @Test("refuses unsafe or invalid options, and explains what to do") func unusable() async throws {
        let fixture = try await SendingFixture()
        let words = ["serve", "--topic", SendingFixture.topic, "--keyring", "Keys"]
        try ServedCommand.write("\(Self.token)\n", to: "token", fixture)
        try certificate(in: fixture)
        try ServedCommand.write("short\n", to: "short", fixture)
        try ServedCommand.write("\(Self.token)\n", to: "exposed", fixture, mode: 0o644)
        try ServedCommand.write("", to: "notify", fixture)
        let listen = ["--from", "newsroom", "--listen"]
        let cases: [([String], Int32, String)] = [
            ([], 64, "--from"), (listen + ["127.0.0.1:0"], 64, "--token-file"),
            (listen + ["0.0.0.0:0", "--token-file", "token"], 64, "--tls CHAIN,KEY"),
            (listen + ["localhost"], 64, "--listen"), (listen + ["./s", "--tls", "token"], 64, "CHAIN,KEY"),
            (listen + ["127.0.0.1:0", "--token-file", "short"], 65, "32 to 256 visible"),
            (listen + ["127.0.0.1:0", "--token-file", "exposed"], 77, "chmod 600"),
            (listen + ["./s", "--notify-tokens", "exposed"], 77, "chmod 600"),
            (listen + ["./s", "--notify-tokens", "token"], 65, "line 1 must be the SHA-256 of a token"),
            // These tokens admit nobody to the other paths.
            (listen + ["127.0.0.1:0", "--notify-tokens", "notify"], 64, "--token-file"),
            (
                listen + ["127.0.0.1:0", "--token-file", "token", "--tls", "token,token"], 65, "token is not PEM"
            ), (listen + ["./s", "--tls", "cert.pem,key.pem"], 64, "--tls is for addresses"),
            (listen + ["./s", "--phones", "./p", "--tls", "cert.pem,key.pem"], 64, "--tls is for addresses"),
            (listen + ["./s", "--metrics", "127.0.0.1:0", "--metrics-open"], 64, "--metrics-open is for"),
            (listen + ["./s", "--metrics-open"], 64, "--metrics-open is for"),
            (["--from", "nobody", "--listen", "./s"], 65, "nobody"),
            (listen + ["none/s"], 74, "--listen: can't listen at none/s: No such file"),
            (listen + ["./s", "--phones", "none/p"], 74, "--phones: can't listen at none/p: No such file"),
            (
                listen + ["./s", "--phones", "192.0.2.1:0", "--tls", "cert.pem,key.pem"], 74,
                "--phones: can't listen at 192.0.2.1:0: Cannot assign"
            ),
            (["--from", "newsroom", "--listen", "./s", "--sender-set", "token"], 65, "a valid sender set"),
            (["--from", "newsroom", "--listen", "./s", "--metrics", "192.0.2.1:0"], 64, "--metrics-open"),
            (
                ["--from", "newsroom", "--listen", "./s", "--metrics", "192.0.2.1:0", "--metrics-open"], 74,
                "Cannot assign"
            ),
            (["--from", "newsroom", "--listen", "./s", "--apns", "Nowhere"], 74, "no local APNs"),
        ]
        for (arguments, status, text) in cases {
            let result = try fixture.run(words + arguments)
            #expect(result.status == status && result.errors.contains(text), "\(arguments): \(result.errors)")
            #expect(!result.errors.contains(Self.token) && result.output.isEmpty, "\(arguments): \(result.output)")
        }
    }
}
