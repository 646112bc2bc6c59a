import Foundation
import PushOutbox
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush", .blocking) struct SealedPushCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for (kind, name) in [("device", "alice-phone"), ("sender", "newsroom")] {
            _ = try run("keys", "generate", kind, name, "--keyring", "K")
        }
    }

    private func run(_ arguments: String..., input: String = "") throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(arguments, input: input)
    }

    private func seal(_ content: String, _ more: String...) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(
            [
                "seal", "-", "--from", "newsroom", "--to", "alice-phone", "--topic", "com.example.app", "--keyring",
                "K",
            ] + more, input: content)
    }

    private func open(_ payload: String, _ more: String...) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(
            [
                "open", "-", "--device", "alice-phone", "--trust", "newsroom", "--topic", "com.example.app",
                "--keyring", "K",
            ] + more, input: payload)
    }

    @Test("with --device, `seal --json` prints the arguments of sealed_push.enqueue, and a code if there is a key")
    func enqueueArguments() throws {
        let content = #"{"alert":{"body":"Hello"},"expires":1900000000}"#
        let sealed = try seal(content, "--json", "--device", "phone-8812", "--priority", "considerate").objects.first
        let arguments = try #require(sealed?["enqueue"] as? [String: Any])
        for (name, from) in [
            ("payload", "payload"), ("recipient", "recipient"), ("apns_id", "apnsID"), ("collapse_id", "collapseID"),
        ] {
            #expect(arguments[name] as? String == sealed?[from] as? String, "\(name)")
        }
        #expect(arguments["device"] as? String == "phone-8812" && arguments["priority"] as? Int == 5)
        #expect(sealed?["priority"] as? Int == 5 && sealed?["pushType"] as? String == "alert")
        #expect(arguments["expiration"] as? Int == 1_900_000_000)
        #expect(arguments["sender"] as? String == (try run("keys", "export", "newsroom", "--keyring", "K").trimmed))
        #expect(arguments["code"] == nil && arguments.count == 8)
        let key = OutboxKey().withSecretText { String(decoding: $0, as: UTF8.self) }
        _ = try folder.write(key, to: "outbox.key")
        let vouched = try seal(content, "--json", "--device", "phone-8812", "--outbox-key", "outbox.key").objects.first
        let code = (vouched?["enqueue"] as? [String: Any])?["code"] as? String
        #expect(code?.hasPrefix("\\x") == true && code?.count == 66)
        for wrong in [
            ["--device", "phone"], ["--json", "--priority", "considerate"], ["--json", "--outbox-key", "k"],
        ] {
            let refused = try Program("sealedpush", in: folder.url).run(
                ["seal", "-", "--from", "newsroom", "--to", "alice-phone", "--topic", "a", "--keyring", "K"] + wrong)
            #expect(refused.status == 64, "\(wrong)")
        }
    }

    @Test(
        "- reads standard input even if it can't be opened again: a socket, as Node gives its children",
        arguments: ["keys list --keyring K --unlock -", "seal --batch - --from newsroom --topic a --keyring K"])
    func socketInput(command: String) throws {
        let line = #"{"to":"nobody","content":{"alert":{"body":"b"}}}"# + "\n"
        let output = try FileHandle(forWritingTo: URL(filePath: folder.write("", to: "output")))
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(write(ends[1], line, line.utf8.count) == line.utf8.count)
        close(ends[1])
        let process = try Program("sealedpush", in: folder.url).start(
            command.split(separator: " ").map(String.init),
            input: FileHandle(fileDescriptor: ends[0], closeOnDealloc: true), output: output, errors: output)
        let status = process.wait().status
        let words = try Checkout.text(folder.appending("output"))
        #expect(status == (command.hasPrefix("keys") ? 77 : 65) && !words.contains("-:"), "\(status): \(words)")
    }

    /// Without `--keyring`, the folder is `Keys`, which doesn't exist here.
    @Test(
        "if the keyring is missing, each command first reports that and how to give its folder",
        arguments: [
            "keys list", "keys rotate alice-phone", "trust list",
            "doctor - --device alice-phone --topic com.example.app",
            "open - --device alice-phone --topic com.example.app",
            "seal - --from newsroom --to alice-phone --topic com.example.app",
            "seal - --anonymous --to alice-phone --topic com.example.app",
            "send - --from newsroom --user alice --topic com.example.app --queue-only",
            "device enroll alice-phone --user alice --token abcd",
            "device enroll alice-phone --user alice --token abcd --unverified --topic com.example.app",
            "outbox status --from newsroom",
            "deliver - --device alice-phone --topic com.example.app",
        ])
    func missingKeyring(command: String) throws {
        #expect(
            try run(
                "device", "enroll", "alice-phone", "--user", "alice", "--token", "abcd", "--unverified", "--topic",
                "com.example.app", "--keyring", "K"
            ).status == 0)
        let words = command.split(separator: " ").map(String.init)
        let program = words[0] == "deliver" ? "device-simulator" : "sealedpush"
        let result = try Program(program, in: folder.url).run(words, input: #"{"alert":{"body":"b"}}"#)
        #expect(result.errors.contains("there is no keyring at Keys; specify its folder with --keyring"))
        #expect(result.status == 74 && result.output.isEmpty)
    }

    @Test("every command that takes a device's public key takes a hybrid one, which is case-sensitive")
    func hybridKeys() throws {
        let key = DevicePrivateKey(.hybrid).recipient
        let topic = ["--topic", "com.example.app", "--keyring", "K"]
        let seal = ["seal", "-", "--from", "newsroom"] + topic + ["--json", "--to"]
        let enroll = ["device", "enroll", "phone", "--token", "abcd"] + topic + ["--key"]
        let content = #"{"alert":{"body":"b"}}"#
        func run(_ arguments: [String]) throws -> Program.Result {
            try Program("sealedpush", in: folder.url).run(arguments, input: content)
        }
        #expect(try run(["keys", "show", key.description.uppercased()]).status == 65)
        for (name, text) in [("phone", key.description)] {
            let shown = try run(["keys", "show", text, "--json"])
            #expect(shown.objects.first?["digits"] as? String == Fingerprint(of: key).description, "\(shown.errors)")
            let sealed = try run(seal + [text, "--unverified"])
            #expect(sealed.objects.first?["recipient"] as? String == key.description, "\(sealed.errors)")
            for refused in [try run(seal + [text]), try run(enroll + [text])] {
                #expect(refused.status == 64 && refused.errors.contains("--unverified"), "\(refused.errors)")
            }
            let enrolled = try run(enroll + [text, "--unverified"])
            #expect(enrolled.status == 0, "\(enrolled.errors)")
            let imported = try run(["keys", "import", name, text, "--keyring", "K"])
            #expect(imported.status == 0, "\(imported.errors)")
            let trusted = try run(["trust", "add", text] + topic)
            #expect(trusted.status == 65 && trusted.errors.contains("a device's key"), "\(trusted.errors)")
            let typo = try run(["keys", "show", String(text.dropLast()) + "b"])
            #expect(typo.status == 65 && typo.errors.contains("pushpq.…: "), "\(typo.errors)")
            let trust = ["open", "-", "--device", "alice-phone", "--trust", text]
            let opened = try run(trust + topic)
            #expect(opened.status == 65 && opened.errors.contains("pushpq.…: "), "\(opened.errors)")
        }
        let listed = try run(["device", "list", "--full", "--json"])
        #expect(listed.objects.first?["key"] as? String == key.description, "\(listed.errors)")
        let again = try self.run(
            "device", "enroll", "--list", "-", "--unverified", "--topic", "com.example.app", input: listed.output)
        #expect(again.status == 0, "\(again.errors)")
    }

    @Test("keys show aligns its values") func columns() throws {
        _ = try run("keys", "generate", "device", "phone", "--topic", "com.example.app", "--keyring", "K")
        let lines = try run("keys", "show", "phone", "--keyring", "K").output.split(separator: "\n")
        #expect(lines.count > 10 && lines.contains { $0.hasPrefix("enrollment: ") })
        for line in lines { #expect(line.contains(/^[A-Za-z ]+: +/) && line.dropFirst(12).contains(/^ \S/), "\(line)") }
    }

    @Test("open returns the content that was sealed, also with files and anonymously") func roundTrip() throws {
        let sealed = try seal(#"{"alert":{"title":"Nina","body":"Lunch?"},"data":{"a":[1,2.5,"x",null]}}"#)
        #expect(sealed.status == 0)
        let opened = try open(sealed.output)
        #expect(opened.status == 0, "\(opened.errors)")
        let content = try #require(opened.objects.first)
        #expect((content["alert"] as? [String: Any])?["body"] as? String == "Lunch?")
        #expect(Set(content.keys) == ["id", "topic", "sent", "alert", "data"])
        let facts = try #require(try seal(#"{"alert":{"body":"b"},"expires":1999999999}"#, "--json").objects.first)
        #expect(try open(facts["payload"] as? String ?? "").status == 0)
        #expect((facts["collapseID"] as? String)?.count == 22)
        #expect((facts["apnsID"] as? String)?.count == 36)
        #expect(facts["topic"] as? String == "com.example.app")
        #expect(facts["expires"] as? Int == 1_999_999_999)
        let file = folder.appending("p.apns").path
        #expect(try seal(#"{"alert":{"body":"b"}}"#, "--output", file).status == 0)
        #expect(try seal(#"{"alert":{"body":"b"}}"#, "--output", file).status == 74)
        let anonymous = try run(
            "seal", "-", "--anonymous", "--to", "alice-phone", "--topic", "com.example.app", "--keyring", "K",
            input: #"{"alert":{"body":"b"}}"#)
        let refused = try open(anonymous.output)
        #expect(refused.status == 65)
        #expect(refused.errors.contains("anonymous-not-allowed"))
        #expect(try open(anonymous.output, "--allow-anonymous").status == 0)
    }

    @Test(
        "if no key is in use, `keys rotate` creates one that is in use immediately; a second one waits beside it")
    func replaced() throws {
        #expect(try run("keys", "revoke", "newsroom", "--yes", "--keyring", "K").status == 0)
        let rotate = ["keys", "rotate", "newsroom", "--keyring", "K"]
        let made = try Program("sealedpush", in: folder.url).run(rotate + ["--json"]).objects.first
        let step = try #require((made?["steps"] as? [[String: Any]])?.first)
        let shown = try run("keys", "show", "newsroom", "--keyring", "K", "--json").objects.first
        let keys = try #require(shown?["keys"] as? [[String: Any]])
        #expect(keys.map { $0["state"] as? String } == ["active", "revoked"])
        #expect([step["newKeyID"], step["keyID"]].map { $0 as? String } == keys.map { $0["keyID"] as? String })
        #expect(try Program("sealedpush", in: folder.url).run(rotate).output.contains(", alongside "))
        #expect(try Program("sealedpush", in: folder.url).run(rotate).status == 65)
        #expect(try run("keys", "rotate", "newsroom", "--dry-run", "--keyring", "K").status == 64)
    }

    @Test(
        "inspect shows suite, hints, number, sizes, bucket, and bytes left without a key, and names with a keyring")
    func inspect() throws {
        let sealed = try seal(#"{"alert":{"body":"b"}}"#)
        let facts = try #require(try run("inspect", "-", "--json", input: sealed.output).objects.first)
        #expect(facts["suite"] as? String == "authenticated")
        #expect((facts["number"] as? String)?.utf8.count == 24)
        #expect((facts["recipientHint"] as? String)?.utf8.count == 8)
        #expect(facts["device"] is NSNull && facts["recipientKeyID"] is NSNull)
        #expect(facts["paddingBucket"] as? Int == 256)
        #expect(facts["plaintextBytes"] as? Int == 256)
        #expect(facts["envelopeBytes"] as? Int == 325)
        let payload = try #require(facts["payloadBytes"] as? Int)
        #expect(payload == sealed.trimmed.utf8.count)
        #expect(facts["bytesLeft"] as? Int == 4_096 - payload)
        let keys = try #require(try run("keys", "show", "newsroom", "--keyring", "K", "--json").objects.first)
        let named = try #require(
            try run("inspect", "-", "--keyring", "K", "--json", input: sealed.output).objects.first)
        #expect(named["device"] as? String == "alice-phone" && named["sender"] as? String == "newsroom")
        #expect(named["senderKeyID"] as? String == keys["keyID"] as? String)
        #expect(try run("inspect", "-", "--keyring", "nowhere", input: sealed.output).status == 74)
        #expect(try run("inspect", "-", input: sealed.output).output.contains("suite:"))
    }

    @Test("a hybrid key can be created, rotated, sealed to, and opened with; only devices have them") func hybrid()
        throws
    {
        #expect(try run("keys", "generate", "sender", "shop", "--hybrid", "--keyring", "K").status == 64)
        let made = try run(
            "keys", "generate", "device", "bob-phone", "--hybrid", "--topic", "com.example.app", "--keyring", "K")
        #expect(made.trimmed.hasPrefix("pushpq.") && made.trimmed.utf8.count == 1_634)
        for round in 1...2 {
            let sealed = try run(
                "seal", "-", "--from", "newsroom", "--to", "bob-phone", "--topic", "com.example.app", "--keyring", "K",
                input: #"{"alert":{"body":"Hello"}}"#)
            let facts = try run("inspect", "-", "--keyring", "K", "--json", input: sealed.output).objects.first
            #expect(facts?["suite"] as? String == "hybrid" && facts?["device"] as? String == "bob-phone")
            let opened = try run(
                "open", "-", "--device", "bob-phone", "--trust", "newsroom", "--topic", "com.example.app", "--keyring",
                "K", input: sealed.output)
            #expect(opened.output.contains("Hello"), "\(opened.errors)")
            if round == 1 { #expect(try run("keys", "rotate", "bob-phone", "--keyring", "K").status == 0) }
        }
        // Content that fits a push only for other devices.
        let long = #"{"alert":{"body":"\#(String(repeating: "x", count: 2_000))"}}"#
        let refused = try run(
            "seal", "-", "--from", "newsroom", "--to", "bob-phone", "--topic", "com.example.app", "--keyring", "K",
            input: long)
        #expect(refused.status == 65 && refused.errors.contains("bytes too large"), "\(refused.errors)")
        #expect(try seal(long).status == 0)
    }

    @Test("doctor and inspect first report that iOS never starts the extension") func notStarted() throws {
        let sealed = try seal(#"{"alert":{"body":"b"}}"#).output
        let changed = sealed.replacing(#""mutable-content":1"#, with: #""mutable-content":0"#)
        let command = ["doctor", "-", "--device", "alice-phone", "--trust", "newsroom", "--topic", "com.example.app"]
        for (payload, status, words) in [
            (sealed, Int32(0), "ok    the system starts the extension"),
            (changed, 65, "FAIL  the extension never starts"),
        ] {
            let doctor = try Program("sealedpush", in: folder.url).run(command + ["--keyring", "K"], input: payload)
            #expect(doctor.status == status && doctor.output.hasPrefix(words), "\(doctor.output)")
            let json = try Program("sealedpush", in: folder.url).run(
                command + ["--keyring", "K", "--json"], input: payload)
            let steps = try #require(json.objects.first?["steps"] as? [[String: Any]])
            #expect(steps[0]["name"] as? String == "start" && steps.count == 12)
            #expect(steps[0]["outcome"] as? String == (status == 0 ? "passed" : "failed"))
            #expect(try run("inspect", "-", input: payload).output.contains("never starts") == (status != 0))
        }
    }

    @Test("errors in content state the place, the member, and what to do") func contentFaults() throws {
        let hash = String(repeating: "A", count: 43)
        func attached(_ url: String) -> String {
            #"{"alert":{"body":"b"},"attachments":[{"id":"a","url":"\#(url)","size":141,"hash":"\#(hash)","key":"\#(hash)","type":"image/png"}]}"#
        }
        for (content, words) in [
            ("{\"alert\":{\"body\":\"b\"},\n}", "line 2, column 1: there is an extra comma"),
            (#"{"alert":{"body":"b"},"data":18446744073709551615}"#, "column 30: this integer doesn't fit in 64 bits"),
            (#"{"alert":{"body":"b","title":null}}"#, "\"alert.title\" is null: leave it out"),
            (attached("http://files.example.com/p"), "\"attachments[0].url\" must be an https URL"),
        ] {
            let sealed = try seal(content)
            #expect(sealed.status == 65 && sealed.errors.contains(words), "\(sealed.errors)")
        }
        let marked = try seal("\u{feff}" + #"{"alert":{"body":"b"}}"#)
        #expect(marked.status == 0 && !marked.errors.contains("private network"), "\(marked.errors)")
        #expect(try run("inspect", "-", input: "\u{feff}" + marked.output).errors.contains("byte order mark"))
        let warned = try seal(attached("https://10.0.0.5/p"))
        #expect(warned.status == 0 && warned.errors.contains("on a private network"), "\(warned.errors)")
    }

    @Test("a key file may start with a byte order mark") func markedKeyFile() throws {
        _ = try run("keys", "passphrase", "--new-unlock", "key", "--keyring", "K")
        let key = try Checkout.text(folder.appending("key"))
        let marked = try folder.write("\u{feff}" + key, to: "marked")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: marked)
        #expect(try run("keys", "export", "newsroom", "--keyring", "K", "--unlock", "marked").status == 0)
    }

    @Test("errors have a status, one sentence, and no standard output") func statuses() throws {
        func expect(_ result: Program.Result, _ status: Int32, _ text: String, line: Int = #line) {
            #expect(result.status == status, "line \(line): \(result.errors)")
            #expect(result.errors.contains(text), "line \(line): \(result.errors)")
            #expect(result.output.isEmpty, "line \(line)")
        }
        expect(try run("keys", "generate", "device", "alice-phone", "--keyring", "K"), 65, "never overwritten")
        expect(try run("keys", "generate", "phone", "x", "--keyring", "K"), 64, "device")
        expect(try run("keys", "generate", "device", "../x", "--keyring", "K"), 64, "name")
        expect(try run("keys", "show", "nobody", "--keyring", "K"), 65, "nobody")
        expect(try run("keys", "import", "x", "push1wrong", "--keyring", "K"), 65, "key")
        expect(try run("keys", "list", "--keyring", "/dev/null"), 74, "/dev/null")
        expect(try seal("no JSON"), 65, "JSON")
        expect(try seal(#"{"alert":{"body":" "}}"#), 65, "visible")
        expect(try seal(#"{"alert":{"body":"b"},"badge":"x"}"#), 65, "badge")
        expect(try seal(#"{"alert":{"body":"b"},"topic":"com.example.other"}"#), 65, "topic")
        expect(try seal(#"{"alert":{"body":"b"}}"#, "--default", ""), 64, "--default")
        expect(try seal(#"{"alert":{"body":"b"}}"#, "--padding", "x"), 64, "padding")
        expect(try seal(#"{"alert":{"body":"b"}}"#, "--anonymous"), 64, "anonymous")
        let long = String(repeating: "b", count: 5_000)
        expect(try seal(#"{"alert":{"body":"\#(long)"}}"#), 65, "bytes too large")
        #expect(try seal(#"{"alert":{"body":"\#(long)"}}"#, "--fit", "truncate").status == 0)
        expect(try open("{}"), 65, "malformed")
        expect(try open("AQ"), 65, "malformed")
        expect(try open("\u{feff}{}"), 65, "malformed")
        expect(try open("{\"custom-encrypted-message\":\"AQ\", \"x\":\"\0\"}"), 65, "malformed")
        expect(try run("inspect", "/no/such/file"), 74, "No such file")
        expect(try run("inspect", folder.path), 74, "directory")
        expect(try run("inspect", "/dev/zero"), 65, "larger than")
        expect(try run("keys", "generate", "sender", "x", "--keyring", ""), 64, "empty")
        expect(try run("inspect", "-", input: "{}"), 65, "malformed")
        expect(try run("inspect", "-", input: "[]"), 65, "not one JSON object")
    }

    @Test("if standard output can't be written, no command reports success") func fullOutput() throws {
        let payload = try folder.write(try seal(#"{"alert":{"body":"b"}}"#).output, to: "p")
        for arguments in [
            ["keys", "list", "--keyring", "K"], ["keys", "list", "--keyring", "K", "--json"], ["inspect", payload],
            ["keys", "export", "newsroom", "--keyring", "K"],
        ] {
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let process = try Program("sealedpush", in: folder.url).start(arguments, output: full)
            #expect(process.wait() == .exited(74), "\(arguments)")
        }
    }

    @Test("output has no control characters or line breaks from content, but the same meaning") func terminal() throws {
        let sealed = try seal("{\"alert\":{\"body\":\"a\u{9b}2J\u{2028}b\u{85}\u{202e}c\u{7f}\"}}")
        let opened = try open(sealed.output)
        #expect(
            opened.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.isASCII && $0.value >= 0x20 && $0.value < 0x7f })
        let alert = opened.objects.first?["alert"] as? [String: Any]
        #expect(alert?["body"] as? String == "a\u{9b}2J\u{2028}b\u{85}\u{202e}c\u{7f}")
    }

    @Test(
        "a secret typed as an argument is refused and not repeated",
        arguments: ["keys import x", "seal - --to"])
    func typedSecret(_ words: String) throws {
        let secret = try run("keys", "export", "newsroom", "--secret", "--yes", "--keyring", "K").trimmed
        let result = try Program("sealedpush", in: folder.url).run(
            words.split(separator: " ").map(String.init) + [secret])
        #expect(result.status == 64 && result.output.isEmpty && !result.errors.contains(secret.suffix(20)))
        for password in ["postgres://push:hunter2@db/push", "host=db password=hunter2"] {
            let result = try Program("sealedpush", in: folder.url).run(["outbox", "status", password])
            #expect(result.status == 64 && !result.errors.contains("hunter2"), "\(result.errors)")
        }
    }

    @Test("an invalid topic, name, or address is refused with its rule, and no file is created")
    func unusableArguments() throws {
        for (arguments, rule) in [
            ("keys generate sender no/name", "1 to 64 letters"), ("keys generate authority no/name", "1 to 64 letters"),
            ("keys generate device phone --topic no/topic", "such as com.example.app"),
            ("open x --device phone --topic no/topic", "such as com.example.app"),
            (
                "seal x --from a --to b --topic com.example.app --overflow http://example.com --overflow-output y",
                "https"
            ), ("outbox purge --sender nobody", "pushsender1…"), ("keys rotate --older-than 1m", "w for weeks"),
        ] {
            let result = try Program("sealedpush", in: folder.url).run(arguments.split(separator: " ").map(String.init))
            #expect(result.status == 64 && result.errors.contains("is invalid for"), "\(arguments)")
            // The help is wrapped.
            let errors = result.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(errors.contains(rule), "\(errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.appending("Keys").path))
    }
}
