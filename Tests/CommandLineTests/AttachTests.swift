import Foundation
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush attach", .serialized, .blocking) struct AttachTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let picture: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }

    init() throws {
        folder = try TemporaryFolder()
        program = Program("sealedpush", in: folder.url)
        try Data(picture).write(to: folder.appending("photo.png"))
        _ = try folder.write(#"{"alert":{"body":"b"},"data":1,"future":true}"#, to: "content.json")
    }

    private func attach(_ more: String...) throws -> Program.Result { try attach(more) }

    private func attach(_ more: [String]) throws -> Program.Result {
        try program.run(["attach", "photo.png", "--url", "https://files.example.com/9f2c"] + more)
    }

    private func python(_ arguments: String...) throws -> Program.Result {
        let script = Checkout.folder.appending(path: "Tests/Evidence/Interop/attachments.py").path
        return try Program(at: "/usr/bin/python3", in: folder.url).run([script] + arguments)
    }

    private func object(_ name: String) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appending(name)))
        return try #require(json as? [String: Any])
    }

    private func makeKeys() throws {
        for (kind, name) in [("device", "phone"), ("sender", "newsroom")] {
            _ = try program.run("keys", "generate", kind, name, "--keyring", "K")
        }
    }

    /// Delivers `push.apns` to a phone, and returns what it shows.
    private func delivered(_ more: String...) throws -> Program.Result {
        try Program("device-simulator", in: folder.url).run(
            ["deliver", "push.apns", "--device", "phone", "--trust", "newsroom", "--topic", "com.example.app"]
                + ["--keyring", "K", "--json"] + more)
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.appending(name).path)[.posixPermissions] as? Int
    }

    @Test("adds an attachment to the content, keeps the rest, and doesn't print the key") func content() throws {
        let first = try attach("--output", "one", "--content", "content.json")
        #expect(first.status == 0, "\(first.errors)")
        let second = try attach("--output", "two", "--content", "content.json", "--id", "second", "--plain", "--json")
        #expect(second.objects.first?["encrypted"] as? Bool == false)
        let content = try object("content.json")
        #expect(content["future"] as? Bool == true)
        let entries = try #require(content["attachments"] as? [[String: Any]])
        #expect(entries.map { $0["id"] as? String } == ["photo.png", "second"])
        let key = try #require(entries[0]["key"] as? String)
        #expect(!(first.output + first.errors + second.output).contains(key))
        #expect(try Data(contentsOf: folder.appending("two")) == Data(picture))
        #expect(try Data(contentsOf: folder.appending("one")).count == 150_008 + 24 + 3 * 17)
    }

    @Test("content that gets a key is private to its owner from its first byte on, and a link to it is kept")
    func mode() throws {
        let content = folder.appending("content.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: content.path)
        let link = folder.appending("link.json").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "content.json")
        #expect(try attach("--output", "one", "--content", "link.json").status == 0)
        #expect(try mode("content.json") == 0o600)
        #expect(try (object("content.json")["attachments"] as? [Any])?.count == 1)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "content.json")

        // A limit on file sizes kills the program while it writes the content, which shows the files at that moment.
        let body = String(repeating: "b", count: 100_000)
        try folder.write(#"{"alert":{"body":"\#(body)"}}"#, to: "content.json")
        try Data(picture.prefix(1_000)).write(to: folder.appending("photo.png"))
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        let words = "attach photo.png --url https://a/b --output two --content content.json"
        let killed = try Program(at: "/bin/bash", in: folder.url).run(
            "-c", "umask 022; ulimit -f 50; exec \"$0\" \(words)", program.executable.path)
        #expect(killed.status != 0, "\(killed.output)")
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting(before)
        #expect(left.count == 2, "\(left), \(killed.status)")
        for name in left where name != "two" {
            #expect(try mode(name) == 0o600, "\(name)")
        }
    }

    @Test(
        "an unencrypted copy is private to its owner, like the original; an encrypted file may be readable by others"
    ) func modes() throws {
        for (more, mode) in [(["--plain"], 0o600), ([], 0o644)] {
            let output = "stored-\(mode)"
            let result = try Program(at: "/bin/bash", in: folder.url).run(
                ["-c", "umask 022; exec \"$0\" \"$@\"", program.executable.path, "attach", "photo.png"]
                    + ["--url", "https://a/b", "--output", output, "--entry", "\(output).json"] + more)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try self.mode(output) == mode)
        }
    }

    @Test("another implementation opens files encrypted here, and vice versa") func interop() throws {
        #expect(try attach("--output", "stored", "--entry", "entry.json").status == 0)
        #expect(try mode("entry.json") == 0o600)
        try #require(
            try Program(at: "/bin/sh", in: folder.url).run(
                "-c", "/usr/bin/python3 \"$0\" open entry.json stored | cmp - photo.png",
                Checkout.folder.appending(path: "Tests/Evidence/Interop/attachments.py").path
            ).status == 0)

        let files = try MisbehavingServer()
        _ = files.url("picture", .hangs)
        let entry = try python(
            "seal", "photo.png", "theirs", "http://127.0.0.1:\(files.port)/picture", "pic", "image/png")
        #expect(entry.status == 0, "\(entry.errors)")
        _ = files.url("picture", .serves(Array(try Data(contentsOf: folder.appending("theirs")))))
        _ = try folder.write(#"{"alert":{"body":"b"},"attachments":[\#(entry.trimmed)]}"#, to: "theirs.json")
        try makeKeys()
        let sealed = try program.run(
            "seal", "theirs.json", "--from", "newsroom", "--to", "phone", "--topic", "com.example.app", "--keyring",
            "K", "--output", "push.apns")
        #expect(sealed.status == 0, "\(sealed.errors)")
        let shown = try delivered("--state", "S")
        let attachments = try #require(shown.objects.first?["attachments"] as? [[String: Any]])
        let file = try #require(attachments.first?["file"] as? String)
        #expect(try Data(contentsOf: URL(filePath: file)) == Data(picture))
    }

    @Test("refuses existing outputs, wrong inputs, and files that iOS wouldn't show") func refusals() throws {
        func expect(_ result: Program.Result, _ status: Int32, _ text: String) {
            #expect(result.status == status, "\(result.errors)")
            #expect(result.errors.contains(text), "\(result.errors)")
        }
        _ = try folder.write("text", to: "text.txt")
        try Data(picture + [UInt8](repeating: 0, count: 10_000_000)).write(to: folder.appending("large.png"))
        for (words, status, text) in [
            ("photo.png --output photo.png --entry e", 74, "exists"),
            ("photo.png --output o --entry photo.png", 74, "exists"),
            ("photo.png --output o --content photo.png", 65, "photo.png"),
            ("photo.png --output o --entry e --type image/gif", 65, "the type that its name declares"),
            ("photo.png --output o", 64, "--content"),
            ("photo.png --output no/such/o --entry e", 74, "written"),
            ("photo.png --output /dev/full --entry e", 74, "exists"), ("no.png --output o --entry e", 74, "read"),
            ("text.txt --output o --entry e", 65, "--type"), ("large.png --output o --entry e", 65, "10 MB"),
        ] as [(String, Int32, String)] {
            let file = words.split(separator: " ").map(String.init)
            expect(try program.run(["attach"] + file + ["--url", "https://a/b"]), status, text)
        }
        for (url, text) in [("http://a.example/b", "localhost"), ("x", "--url")] {
            let words = ["attach", "photo.png", "--url", url, "--output", "o", "--entry", "e"]
            expect(try program.run(words), 64, text)
        }
        _ = try folder.write(#"{"alert":{"body":"b"}}"#, to: "twice.json")
        #expect(try attach("--output", "first", "--content", "twice.json").status == 0)
        expect(try attach("--output", "o", "--content", "twice.json"), 65, "--id")
        for name in ["first", "twice.json"] { try FileManager.default.removeItem(at: folder.appending(name)) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(names == ["content.json", "large.png", "photo.png", "text.txt"])
    }

    @Test("an ID has at most 64 bytes: a name is cut between its characters, and a longer ID is refused")
    func identifiers() throws {
        for (name, id) in [
            (String(repeating: "ж", count: 40) + ".png", String(repeating: "ж", count: 32)),
            ("x" + String(repeating: "ж", count: 40) + ".png", "x" + String(repeating: "ж", count: 31)),
            (String(repeating: "👩‍👩‍👧", count: 5) + ".png", String(repeating: "👩‍👩‍👧", count: 3)),
            (String(repeating: "e\u{301}", count: 40) + ".png", String(repeating: "e\u{301}", count: 21)),
            ("a" + String(repeating: "\u{301}", count: 50) + ".png", "a" + String(repeating: "\u{301}", count: 31)),
        ] {
            try Data(picture).write(to: folder.appending(name))
            let made = try program.run(
                ["attach", name, "--url", "https://a/b", "--output", "o", "--entry", "e"])
            #expect(made.status == 0, "\(made.errors)")
            let found = try #require(try object("e")["id"] as? String)
            #expect(Array(found.utf8) == Array(id.utf8), "\(found)")
            try folder.write(#"{"alert":{"body":"b"}}"#, to: "c")
            let added = try program.run(
                ["attach", name, "--url", "https://a/b", "--output", "p", "--content", "c"])
            #expect(added.status == 0, "\(added.errors)")
            for file in ["o", "e", "p", "c"] { try FileManager.default.removeItem(at: folder.appending(file)) }
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        for id in ["", String(repeating: "ж", count: 33), String(repeating: "x", count: 65)] {
            for way in [["--entry", "e"], ["--content", "content.json"]] {
                let refused = try attach(["--output", "o", "--id", id] + way)
                #expect(refused.status == 65 && refused.errors.contains("1 to 64 bytes"), "\(refused)")
            }
            #expect(throws: AttachmentError.wrongID) {
                try Sealer.sealAttachment(
                    folder.appending("photo.png"), to: folder.appending("o"), at: URL(string: "https://a/b")!, id: id)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
        #expect(try attach(["--output", "o", "--entry", "e", "--id", String(repeating: "x", count: 64)]).status == 0)
    }

    @Test("an error leaves no file behind that would block the next try") func leftovers() throws {
        try folder.write("x", to: "taken")
        try FileManager.default.createDirectory(at: folder.appending("f"), withIntermediateDirectories: false)
        let long = String(repeating: "b", count: 60_000)
        try folder.write(#"{"alert":{"body":"\#(long)"}}"#, to: "long.json")
        try makeKeys()
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let seal = "seal long.json --from newsroom --to phone --topic app --keyring K --overflow https://a/b"
        for (words, status) in [
            ("attach photo.png --url https://a/b --output o --entry o", 64),
            ("attach photo.png --url https://a/b --output o --entry ./o", 74),
            ("attach photo.png --url https://a/b --output o --entry taken", 74),
            ("attach photo.png --url https://a/b --output o --entry no/such/e", 74),
            ("attach photo.png --url https://a/b --output taken --entry e", 74),
            ("\(seal) --overflow-output o --output o", 64), ("\(seal) --overflow-output o --output ./o", 74),
            ("\(seal) --overflow-output o --output taken", 74), ("\(seal) --overflow-output o --output no/such/p", 74),
            ("\(seal) --overflow-output taken --output o", 74),
        ] as [(String, Int32)] {
            let result = try program.run(words.split(separator: " ").map(String.init))
            #expect(result.status == status, "\(words): \(result)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before, "\(words)")
        }
        // Neither does output that can't be printed.
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let words = "\(seal) --overflow-output o --output p --json".split(separator: " ").map(String.init)
        #expect(try program.start(words, output: full).wait() == .exited(74))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    private static let attachTo = "attach photo.png --url https://a/b --entry e --output"

    @Test(
        "a full disk is reported as one",
        .enabled(if: Machine.canMount, "The system doesn't allow mounting a file system."))
    func fullDisk() throws {
        let full = try Program(at: "/usr/bin/unshare", in: folder.url).run(
            "--mount", "--map-root-user", "/bin/sh", "-c",
            "mkdir full && mount -t tmpfs -o size=64k tmpfs full && exec \"$0\" \(Self.attachTo) full/o",
            program.executable.path)
        #expect(full.status == 74 && full.errors.contains("full/o: the disk is full"), "\(full)")
    }

    @Test("a lack of descriptors is not reported as a missing or unreadable file") func descriptors() throws {
        var count = 0
        // The files of the program's start, then of its work.
        for limit in 4...24 {
            let result = try Program(at: "/bin/sh", in: folder.url).run(
                "-c", "rm -f o e; ulimit -n \(limit); exec \"$0\" \(Self.attachTo) o", program.executable.path)
            if result.errors.contains("too many files are open") { count += 1 }
            #expect(!result.errors.contains("can't be read") && !result.errors.contains("check that"), "\(result)")
        }
        #expect(count > 0)
    }

    @Test("the file can be standard input, which only one option can read") func standardInput() throws {
        let shell = { (line: String) in
            try Program(at: "/bin/bash", in: folder.url).run("-c", line, program.executable.path)
        }
        let attach = "\"$0\" attach - --url https://a/b --output o --entry e"
        #expect(try shell("\(attach) <photo.png").status == 64)
        let piped = try shell("cat photo.png | \(attach) --id p --type image/png --plain")
        #expect(piped.status == 0, "\(piped.errors)")
        #expect(try Data(contentsOf: folder.appending("o")) == Data(picture))
        let content = try shell("\"$0\" attach photo.png --url https://a/b --output p --content - <content.json")
        #expect(content.status == 64 && content.errors.contains("--entry"), "\(content)")
        let twice = try shell("\"$0\" keys import x --secret-file - --unlock - <content.json")
        #expect(twice.status == 64 && twice.errors.contains("only once"), "\(twice)")
    }

    @Test("a story too long for one push is moved to a file, which is fetched first") func overflow() throws {
        let files = try MisbehavingServer()
        let url = files.url("story", .hangs).absoluteString
        let body = String(repeating: "long story ", count: 2_000)
        _ = try folder.write(#"{"alert":{"title":"Storm","body":"\#(body)"}}"#, to: "story.json")
        try makeKeys()
        func seal(_ name: String, _ more: String...) throws -> Program.Result {
            try program.run(
                ["seal", name, "--from", "newsroom", "--to", "phone", "--topic", "com.example.app", "--keyring", "K"]
                    + more)
        }
        #expect(try seal("story.json").errors.contains("--overflow"))
        let sealed = try seal("story.json", "--overflow", url, "--overflow-output", "o", "--output", "push.apns")
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(sealed.errors.contains("store o ("))
        _ = files.url("story", .serves(Array(try Data(contentsOf: folder.appending("o")))))
        let shown = try delivered()
        #expect(shown.objects.first?["body"] as? String == body)
        // If it fits, no file is written.
        #expect(try seal("content.json", "--overflow", url, "--overflow-output", "p", "--output", "q").status == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("p").path))
        // A push that is refused leaves no file to store.
        let refused = try seal("story.json", "--require-hybrid", "--overflow", url, "--overflow-output", "r")
        #expect(refused.status == 65 && refused.errors.contains("isn't hybrid"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.appending("r").path))
    }
}
