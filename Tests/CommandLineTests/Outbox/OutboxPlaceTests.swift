import ArgumentParser
import Foundation
import Glibc
import PushHTTP
import PushSimulator
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@testable import SealedPushCommand

@Suite("An outbox's address and its disk", .blocking) struct OutboxPlaceTests {
    @Test("a misspelled PostgreSQL address doesn't create a file, and no command repeats it")
    func addresses() async throws {
        let fixture = try await SendingFixture()
        let send = fixture.sendArguments(["--all", "--queue-only"], apns: false)
        let commands = [
            ["outbox", "status"], ["outbox", "retry"], ["outbox", "purge", "--refused"], ["device", "list"],
            ["device", "remove", "a1", "--yes"],
            ["device", "enroll", "a1", "--token", "00", "--key", "newsroom", "--keyring", "Keys"], send,
            ["work", "--apns", "APNs"],
            ["serve", "--from", "newsroom", "--topic", SendingFixture.topic, "--keyring", "Keys"],
        ]
        let before = try Checkout.allFiles(in: fixture.folder.url).count
        for (index, address) in [
            "postgresql+psycopg://push:s3cr3t-pw@127.0.0.1:1/push", "POSTGRES://push:s3cr3t-pw@127.0.0.1:1/push",
            " postgres://push:s3cr3t-pw@127.0.0.1:1/push", "\"postgres://push:s3cr3t-pw@127.0.0.1:1/push\"",
            "host=127.0.0.1 password=s3cr3t-pw", "jdbc:postgresql://127.0.0.1:1/push?password=s3cr3t-pw",
            "file:s3cr3t-pw?mode=memory", "./postgres://push:s3cr3t-pw@127.0.0.1:1/push", ":memory:", "",
        ].enumerated() {
            for command in index == 0 ? commands : [commands[0]] {
                let result = try fixture.run(command + ["--outbox", address])
                #expect(result.status == 64 && result.errors.contains("--outbox must "), "\(command): \(result.errors)")
                #expect(!(result.errors + result.output).contains("s3cr3t-pw"), "\(command): \(result.errors)")
            }
        }
        let slash = try fixture.run([
            "outbox", "status", "--outbox", "postgres://push:S3/s3cr3t-pw@db.example.com/push",
        ])
        #expect(slash.status == 74 && slash.errors.contains("percent-encode"), "\(slash.errors)")
        #expect(!slash.errors.contains("s3cr3t-pw") && !slash.errors.contains("db.example.com"))
        #expect(try Checkout.allFiles(in: fixture.folder.url).count == before)
        let away = try fixture.run(["outbox", "status", "--outbox", "postgres://push@127.0.0.1:1/push"])
        #expect(away.status == 75 && away.errors.contains("waiting up to 10 s: "), "\(away.errors)")
    }

    @Test(
        "a read-only outbox can be shown but not changed, and deferred pushes are counted",
        .enabled(if: Machine.canMount, "The system doesn't allow mounting a file system."))
    func readOnly() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("a1")
        #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0)
        let script = """
            mount --bind . . && cd "$PWD" && mount -o remount,bind,ro . || exit
            for words in "outbox status" "device list" "outbox purge --refused"; do
              "$0" $words --outbox outbox.sqlite; echo "status $?"
            done
            """
        let text = try inNamespace(script, fixture).joined(separator: "\n")
        #expect(text.contains("waiting   1\n") && text.contains("opened read-only"), "\(text)")
        #expect(text.matches(of: /\nstatus 0/).count == 2 && text.hasSuffix("status 74"), "\(text)")
        #expect(try fixture.run(["outbox", "retry", "--deferred"]).output.hasPrefix("Deferred pushes now due: 0."))
    }

    @Test(
        "a full disk is reported with the work done so far, a service on it isn't ready, and both recover given space",
        .enabled(if: Machine.canMount, "The system doesn't allow mounting a file system."))
    func full() async throws {
        let fixture = try await SendingFixture()
        let key = try fixture.run([
            "keys", "generate", "device", "any", "--topic", SendingFixture.topic, "--keyring", "Keys",
        ])
        #expect(key.status == 0)
        let list = (0..<3_000).map {
            let token = fixture.apns.register(name: "d\($0)", topic: SendingFixture.topic)
            return #"{"device":"d\#($0)","user":"u","token":"\#(token)","key":"any"}"#
        }
        try fixture.folder.write(list.joined(separator: "\n"), to: "list")
        let script = """
            set -u
            mkdir small; mount -t tmpfs -o size=40m,mode=700 tmpfs small || exit
            ready() { sleep 1.1; curl -s -o /dev/null -w "ready %{http_code}\\n" --unix-socket own.sock http://localhost/readyz; }
            leave() {
                used=$(stat -f -c '%b %f' small | { read all left; echo $((all - left)); })
                mount -o remount,size=$((used * 4096 + $1)) small
            }
            "$0" device enroll --list list --keyring Keys --outbox small/o.sqlite; echo "enrolled $?"
            "$0" serve --from newsroom --topic com.example.app --keyring Keys --outbox small/o.sqlite --listen own.sock &
            service=$!
            until [ -S own.sock ]; do sleep 0.1; done
            ready
            head -c 50000000 /dev/zero >small/filler
            ready
            rm small/filler
            ready
            # Space for the first thousand, but not for all.
            leave 1700000
            "$0" send content.json --all --id one --queue-only --from newsroom --topic com.example.app --keyring Keys \\
                --outbox small/o.sqlite; echo "sent $?"
            mount -o remount,size=40m small
            kill $service; wait $service; echo "served $?"
            "$0" send content.json --all --id one --queue-only --from newsroom --topic com.example.app --keyring Keys \\
                --outbox small/o.sqlite; echo "sent $?"
            "$0" outbox status --outbox small/o.sqlite
            # Space to start, but not to record all responses.
            leave 200000
            "$0" work --apns APNs --until-empty --outbox small/o.sqlite 2>log &
            work=$!
            until grep -q stopping log || ! kill -0 $work; do sleep 0.1; done
            mount -o remount,size=40m small
            wait $work; echo "worked $?"; cat log
            """
        let lines = try inNamespace(script, fixture)
        let text = lines.joined(separator: "\n")
        for line in ["enrolled 0", "sent 74", "sent 0", "served 0", "waiting   3,000", "worked 74"] {
            #expect(lines.contains(line), "\(line)\n\(text)")
        }
        #expect(lines.filter { $0.hasPrefix("ready") } == ["ready 200", "ready 503", "ready 200"], "\(text)")
        let words =
            /disk is full, or its quota is used up; the outbox's contents are intact; free some space first\. The message is enqueued for [12],000 devices/
        #expect(text.contains(words) && text.contains("send it again with the same --id"), "\(text)")
        #expect(text.contains("trying to record the pushes that APNs accepted: the disk is full"), "\(text)")
    }

    @Test("SIGHUP doesn't end the program, and its effect is reported") func hangup() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("a1")
        try ServedCommand.write("", to: "errors", fixture)
        let work = try Program("sealedpush", in: fixture.folder.url).start(
            ["work", "--apns", "APNs", "--metrics", "127.0.0.1:0"],
            errors: FileHandle(forWritingTo: fixture.folder.appending("errors")))
        let errors = { try Checkout.text(fixture.folder.appending("errors")) }
        try await eventually("its metrics") { try errors().contains("/metrics") }
        Glibc.kill(work.identifier, SIGHUP)
        try await eventually("its answer") { try errors().contains("SIGHUP is ignored") }
        Glibc.kill(work.identifier, SIGTERM)
        #expect(work.wait() == .exited(0))
        #expect(ServerPlace(argument: "[::1]:0")?.description(9_102) == "[::1]:9102")
    }

    /// Runs a script that may mount file systems in the fixture's folder, and returns the lines of its output.
    private func inNamespace(_ script: String, _ fixture: SendingFixture) throws -> [String] {
        let program = Program("sealedpush").executable.path
        let result = try Program(at: "/usr/bin/unshare", in: fixture.folder.url).run(
            ["--mount", "--map-root-user", "/bin/sh", "-c", "exec 2>&1; \(script)", program])
        try #require(result.errors.isEmpty, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }
}
