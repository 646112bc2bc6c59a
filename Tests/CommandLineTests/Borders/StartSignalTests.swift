import Foundation
import Glibc
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// In a container, a program is process 1, for which the kernel drops each signal that has no handler.
@Suite("A signal to a program that has only started", .blocking) struct StartSignalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let serve = "serve --from news --topic a --keyring K --outbox o --listen s.sock"

    /// The commands, and the text on standard error after which each waits; without one, each waits for standard input.
    private static let commands: [(program: String, words: String, text: String)] = [
        ("sealedpush", serve, "waiting up to 30 s"),
        ("sealedpush", "work --outbox o --apns APNs", "waiting up to 30 s"),
        ("sealedpush", "send c --all --from news --topic a --keyring K --outbox o --queue-only", "waiting up to 30 s"),
        ("sealedpush", "device remove d --yes --outbox o", "waiting up to 30 s"),
        ("sealedpush", "seal - --from news --to d --topic a --keyring K", ""), ("sealedpush", "inspect -", ""),
        ("sealedpush", "trust list --unlock - --keyring K", ""),
        ("device-simulator", "deliver - --device d --topic a --keyring K", ""),
        ("device-simulator", "run --apns none --state S --device d --topic a --keyring K --unlock -", ""),
    ]

    /// Runs a command, with the outbox locked by another process, and sends it the signal once it waits. Prints its status.
    ///
    /// - Parameter isFirst: whether it is process 1 of its own namespace.
    private func statuses(isFirst: Bool, _ number: Int32) throws -> [String] {
        let own = Program("sealedpush", in: folder.url)
        try folder.write(#"{"alert":{"body":"b"}}"#, to: "c")
        for words in ["keys generate sender news --keyring K", "keys generate device d --keyring K"] {
            try #require(try own.run(words.split(separator: " ").map(String.init)).status == 0)
        }
        let key = try own.run("keys", "export", "d", "--keyring", "K").trimmed
        try #require(
            try own.run(
                "device", "enroll", "d", "--token", "ab", "--key", key, "--unverified", "--topic", "a", "--outbox", "o"
            ).status == 0)
        let script = #"""
            number=$1; shift
            mkfifo locked input; exec 4<>input
            python3 -c "
            import sqlite3, sys, time
            connection = sqlite3.connect('o'); connection.execute('begin immediate')
            open('locked', 'w').write('yes'); time.sleep(100000)" & lock=$!
            read -r _ <locked
            trap 'kill -KILL $lock' EXIT
            while [ $# -gt 0 ]; do
              program=$1; words=$2; text=$3; shift 3
              # Without the previous command's text, after which the signal would come before this one has started.
              : >errors
              printf '{' >&4
              # A job in the background would ignore SIGINT.
              ${FIRST:+unshare $FIRST} env --default-signal=INT "$program" $words \
                <input >output 2>errors & parent=$!
              child=$parent
              if [ -n "$FIRST" ]; then
                until child=$(tr -d ' ' </proc/$parent/task/$parent/children) && [ -n "$child" ]; do sleep 0.05; done
              fi
              waits() {
                # It waits for more input once it has taken the first byte.
                if [ -n "$text" ]; then grep -q "$text" errors; else
                  python3 -c "
            import fcntl, struct, sys, termios
            sys.exit(struct.unpack('i', fcntl.ioctl(4, termios.FIONREAD, bytes(4)))[0] != 0)"
                fi
              }
              until waits; do kill -0 $child 2>/dev/null || break; sleep 0.05; done
              kill -$number $child
              for i in $(seq 20000); do kill -0 $child 2>/dev/null || break; sleep 0.05; done
              kill -KILL $child 2>/dev/null && echo "$words: still there" || true
              wait $parent; echo "$words: $?"
              [ -z "$text" ] || read -r -N 1 -u 4 _
            done
            """#
        let rows = Self.commands.flatMap { [Program($0.program).executable.path, $0.words, $0.text] }
        let result = try Program(at: "/bin/bash", in: folder.url).run(
            ["-c", script, "bash", String(number)] + rows,
            environment: ["FIRST": isFirst ? Machine.isolation.joined(separator: " ") : ""])
        #expect(result.status == 0, "\(result)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test("ends it at once", arguments: [SIGTERM, SIGINT]) func signals(number: Int32) throws {
        try expectEnd(isFirst: false, number)
    }

    @Test(
        "ends it at once as process 1, too",
        .enabled(if: Machine.canIsolateProcesses, "The system doesn't allow a process namespace."),
        arguments: [SIGTERM, SIGINT])
    func firstProcess(number: Int32) throws { try expectEnd(isFirst: true, number) }

    private func expectEnd(isFirst: Bool, _ number: Int32) throws {
        let lines = try statuses(isFirst: isFirst, number)
        #expect(lines == Self.commands.map { "\($0.words): \(128 + number)" }, "\(lines)")
    }

    @Test("SIGHUP ends no service, however early it comes", arguments: ["serve", "start", "work"])
    func hangUp(command: String) throws {
        try #require(
            try Program("sealedpush", in: folder.url).run("keys", "generate", "sender", "news", "--keyring", "K").status
                == 0)
        let commands = ["serve": Self.serve, "start": "start --in S --topic a", "work": "work --outbox o --apns APNs"]
        let words = try #require(commands[command])
        let result = try Program(at: "/usr/bin/python3", in: folder.url).run(
            ["-c", Self.hangUp, Program("sealedpush").executable.path] + words.split(separator: " ").map(String.init))
        #expect(result.status == 0 && result.trimmed == "0 times", "\(result.output) \(result.errors)")
    }

    /// Sends SIGHUP as soon as the program has ignored SIGPIPE, which is the first thing that it does, and then SIGTERM. The
    /// system delivers SIGHUP first (signal(7)). Counts how often that ended the program. `work` may also end by itself.
    private static let hangUp = """
        import os, re, signal, subprocess, sys
        count = 0
        for _ in range(20):
            process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            pipe = 0
            while not pipe and process.poll() is None:
                ignored = re.search("SigIgn:\\t([0-9a-f]+)", open(f"/proc/{process.pid}/status").read())
                pipe = int(ignored[1], 16) >> signal.SIGPIPE - 1 & 1
            for number in (signal.SIGHUP, signal.SIGTERM):
                process.send_signal(number)
            count += process.wait() in (-signal.SIGHUP, 128 + signal.SIGHUP)
        print(count, "times")
        """
}
