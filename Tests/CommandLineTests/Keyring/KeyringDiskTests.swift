import Foundation
import PushKeyring
import TestPrograms
import TestSupport
import Testing

/// Tests with full or read-only file systems in a private mount namespace.
@Suite(
    "A keyring on a full or read-only disk", .blocking,
    .enabled(if: Machine.canMount, "The system doesn't allow mounting a file system."))
struct KeyringDiskTests {
    @Test(
        "reports an error with the file's name, keeps its contents, and recovers once there is space",
        arguments: Thoroughness.sample(
            2,
            of: [
                "keys generate sender radio", "keys rotate --older-than 30d", "keys erase friend --yes",
                "keys passphrase --new-unlock",
            ]))
    func full(_ words: String) throws {
        let command = try #require(KeyringCommand.all.first { $0.description == words })
        let aftermath = try KeyringAftermath(command, KeyringFixture(sealed: .clear))
        let folder = try TemporaryFolder(inMemory: true)
        // Limit the pages of 4 KiB, from none to enough, and then the files.
        let script = """
            set -e
            mount -t tmpfs -o size=1m tmpfs "$DISK"
            attempt() {
              "$PROGRAM" COMMAND >/dev/null 2>"$OUT/$1-errors" && status=0 || status=$?
              echo $status >"$OUT/$1-status"
              cp -r "$DISK/Keys" "$OUT/$1-after"
            }
            for free in 0 1 2 3 4 5 6 7 8 9 10 11 12 14 16 20 32; do
              rm -rf "$DISK/Keys"; cp -r "$BASE" "$DISK/Keys"; : >"$DISK/Keys/lock"
              head -c 2000000 /dev/zero >"$DISK/filler" 2>/dev/null || :
              truncate -s -$((free * 4096)) "$DISK/filler"
              attempt pages-$free
              rm "$DISK/filler"
              attempt pages-$free-again
            done
            for free in 0 1 2 3 4 5 6 7 8 9 10 12 14 16 20; do
              rm -rf "$DISK/Keys"; cp -r "$BASE" "$DISK/Keys"; : >"$DISK/Keys/lock"
              used=$(stat -f -c '%c %d' "$DISK" | { read all left; echo $((all - left)); })
              mount -o remount,nr_inodes=$((used + free)) "$DISK"
              attempt files-$free
              mount -o remount,nr_inodes=1000 "$DISK"
              attempt files-$free-again
            done
            """
        let arguments = try command.words(aftermath.fixture).map { "'\($0)'" }.joined(separator: " ")
        let finished = script.replacing("COMMAND", with: "\(arguments) --keyring \"$DISK/Keys\"")
        try inNamespace(finished, folder, base: aftermath.fixture.keyring)

        var statuses: [Int32] = []
        let out = folder.appending("out")
        for (kind, steps) in [
            ("pages", Array(0...12) + [14, 16, 20, 32]), ("files", Array(0...10) + [12, 14, 16, 20]),
        ] {
            for free in steps {
                let label = "\(kind)-\(free)"
                let status = try number(out, "\(label)-status")
                let errors = try Checkout.text(out.appending(path: "\(label)-errors"))
                statuses.append(status)
                #expect(status == 0 || status == 74, "\(label): \(errors)")
                let after = try aftermath.check(out.appending(path: "\(label)-after"), label)
                #expect(after == (status == 0 ? .new : .old), "\(label): \(errors)")
                if status != 0 {
                    #expect(errors.contains("disk/Keys"), "\(label): \(errors)")
                    #expect(errors.contains("No space left on device"), "\(label): \(errors)")
                    #expect(try number(out, "\(label)-again-status") == 0, "\(label)")
                    #expect(try aftermath.check(out.appending(path: "\(label)-again-after"), label) == .new)
                }
            }
            #expect(statuses.first == 74 && statuses.last == 0)
        }
    }

    @Test("can be read but not changed if it's read-only") func readOnly() throws {
        let aftermath = try KeyringAftermath(KeyringCommand.all[0], KeyringFixture(sealed: .key))
        let fixture = aftermath.fixture
        let folder = try TemporaryFolder(inMemory: true)
        let content = try folder.write(#"{"alert":{"body":"b"}}"#, to: "content")
        let unlocking = fixture.unlocking.joined(separator: " ")
        let changing = try KeyringCommand.all.filter { $0.seals.contains(.key) }.map { command in
            try command.words(fixture).joined(separator: " ")
        }
        let reading = [
            "keys list", "keys list --json", "keys show newsroom", "keys export newsroom", "keys show newsroom --json",
            "trust list", "keys show authority", "keys rotate --older-than 30d --dry-run",
            "seal \(content) --from newsroom --to alice-phone --topic com.example.app",
        ]
        let script = """
            set -e
            cp -r "$BASE" "$DISK/Keys"
            mount --bind "$DISK" "$DISK"
            mount -o remount,bind,ro "$DISK"
            index=0
            while read -r words; do
              "$PROGRAM" $words --keyring "$DISK/Keys" \(unlocking) >/dev/null 2>"$OUT/$index-errors" && status=0 || status=$?
              echo $status >"$OUT/$index-status"
              index=$((index + 1))
            done <"$WORDS"
            mount -o remount,bind,rw "$DISK"
            cp -r "$DISK/Keys" "$OUT/after"
            "$PROGRAM" \(changing[0]) --keyring "$DISK/Keys" \(unlocking)
            """
        try folder.write((changing + reading).joined(separator: "\n") + "\n", to: "words")
        try inNamespace(script, folder, base: fixture.keyring)
        let out = folder.appending("out")
        for (index, words) in (changing + reading).enumerated() {
            let errors = try Checkout.text(out.appending(path: "\(index)-errors"))
            let isChange = index < changing.count
            #expect(try number(out, "\(index)-status") == (isChange ? 74 : 0), "\(words): \(errors)")
            if isChange { #expect(errors.contains("disk/Keys") && errors.contains("Read-only"), "\(words): \(errors)") }
        }
        #expect(try aftermath.check(out.appending(path: "after"), "read-only") == .old)
        #expect(try aftermath.check(folder.appending("disk/Keys"), "writable again") == .new)
    }

    private func number(_ folder: URL, _ name: String) throws -> Int32 {
        try #require(Int32(Checkout.text(folder.appending(path: name)).trimmingCharacters(in: .newlines)))
    }

    /// Runs a script that may mount file systems, and requires that it succeeds.
    private func inNamespace(_ script: String, _ folder: TemporaryFolder, base: URL) throws {
        let settings = [
            "DISK": folder.appending("disk").path, "OUT": folder.appending("out").path, "BASE": base.path,
            "WORDS": folder.appending("words").path, "PROGRAM": Program("sealedpush").executable.path,
        ]
        for name in ["disk", "out"] {
            try FileManager.default.createDirectory(at: folder.appending(name), withIntermediateDirectories: true)
        }
        let text = settings.map { "\($0.key)='\($0.value)'\n" }.joined() + script
        let result = try Program(at: "/usr/bin/unshare").run(
            ["--mount", "--map-root-user", "/bin/sh", folder.write(text, to: "script")])
        try #require(result.status == 0, "\(result.output)\(result.errors)")
    }
}
