import Foundation
import TestPrograms
import TestSupport
import Testing

/// `setup` without `--in`, in a mount namespace with the users and folders that the package creates.
@Suite(
    "setup for the package", .blocking,
    .enabled(if: Machine.hasOtherUsers && Machine.canMount, "It needs other users and mounts: run it as root."))
struct PackageSetupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Gives the process its own /etc, /var/lib, and /run; then creates users from Packaging/sealed-push.sysusers, and folders
    /// from Packaging/sealed-push.tmpfiles.
    private static let machine = #"""
        set -euo pipefail
        packaging=$1 program=$2
        mkdir etc
        cp /etc/ld.so.cache /etc/nsswitch.conf etc
        echo root:x:0:0::/root:/bin/sh >etc/passwd
        echo root:x:0: >etc/group
        mount --bind etc /etc
        mount -t tmpfs none /var/lib
        mount -t tmpfs none /run
        number=1500
        while read -r kind name _; do
          number=$((number + 1))
          [ "$kind" = m ] || echo "$name:x:$number:" >>/etc/group
          [ "$kind" != u ] || echo "$name:x:$number:$number::/:/bin/false" >>/etc/passwd
        done <"$packaging/sealed-push.sysusers"
        mkdir -m 755 /etc/sealed-push
        cp "$packaging/sealed-push.env" /etc/sealed-push
        make_folders() {
          grep ^d "$packaging/sealed-push.tmpfiles" | while read -r _ path mode user group; do
            install -d -m "$mode" -o "$user" -g "$group" "$path"
          done
        }
        sealedpush() { env XDG_STATE_HOME=/dev/null "$program" "$@"; }
        as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$program" "$@"; }

        """#

    private func run(_ script: String) throws -> Program.Result {
        let packaging = Checkout.folder.appending(path: "Packaging").path
        return try Program(at: "/usr/bin/unshare", in: folder.url).run(
            "--mount", "bash", "-c", Self.machine + script, "bash", packaging, Program("sealedpush").executable.path)
    }

    @Test("gives each service what only it may read, as its unit expects") func fresh() throws {
        let result = try run(
            """
            make_folders
            umask 077
            sealedpush setup --topic com.example.app >first
            find /etc/sealed-push /var/lib/sealed-push -type f -printf '%M %u %g %p\\n' | sort -k 4
            cmp /var/lib/sealed-push/serve/outbox.key /var/lib/sealed-push/work/outbox.key
            diff "$packaging/sealed-push.env" /etc/sealed-push/sealed-push.env | grep '^[<>]' || true
            sealedpush setup --json >second
            cp /etc/sealed-push/secrets/unlock.key unlock.key
            chown sealed-push-serve unlock.key
            cd / && as sealed-push-serve keys export newsroom --keyring /var/lib/sealed-push/serve/Keys \
                --unlock - <"$OLDPWD/unlock.key"
            """)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        let (data, settings) = ("/var/lib/sealed-push", "/etc/sealed-push")
        let (serve, work) = (
            "-rw------- sealed-push-serve sealed-push-serve", "-rw------- sealed-push-work sealed-push-work"
        )
        #expect(
            lines.dropLast() == [
                "-rw-r--r-- root root \(settings)/sealed-push.env",
                "-rw-r----- root sealed-push-serve \(settings)/secrets/token",
                "-rw------- root root \(settings)/secrets/unlock.key",
                "\(serve) \(data)/serve/Keys/.gitignore", "\(serve) \(data)/serve/Keys/audit.jsonl",
                "\(serve) \(data)/serve/Keys/keyring.txt", "\(serve) \(data)/serve/Keys/lock",
                "\(serve) \(data)/serve/outbox.key", "\(work) \(data)/work/outbox.key",
                "< SENDER=", "< TOPIC=", "> SENDER=newsroom", "> TOPIC=com.example.app",
                "< SERVE_OPTIONS=--phones 127.0.0.1:8480 --metrics 127.0.0.1:9102",
                "> SERVE_OPTIONS=--outbox-key outbox.key --phones 127.0.0.1:8480 --metrics 127.0.0.1:9102",
                "< WORK_OPTIONS=--metrics 127.0.0.1:9103",
                "> WORK_OPTIONS=--outbox-key outbox.key --metrics 127.0.0.1:9103",
            ], "\(result.output)")
        let key = try #require(lines.last)
        #expect(key.hasPrefix("pushsender1"))
        let first = try Checkout.text(folder.appending("first"))
        #expect(first.contains(key) && first.contains("systemctl enable --now sealed-push-serve sealed-push-work"))
        let second = try Checkout.text(folder.appending("second"))
        #expect(second.contains(#""created":[]"#) && second.contains(key), "\(second)")
    }

    @Test("copies the outbox's key for the service that lacks it, and gives no key to an outbox without one")
    func outboxKeys() throws {
        let result = try run(
            """
            make_folders
            sealedpush setup --topic com.example.app >/dev/null
            rm /var/lib/sealed-push/work/outbox.key
            echo phones >/var/lib/sealed-push/outbox/outbox.sqlite
            sealedpush setup >/dev/null
            cmp /var/lib/sealed-push/serve/outbox.key /var/lib/sealed-push/work/outbox.key
            rm /var/lib/sealed-push/*/outbox.key
            sealedpush setup || echo "refused $?"
            sed -i 's/--outbox-key outbox.key //' /etc/sealed-push/sealed-push.env
            sealedpush setup --json >/dev/null
            ls /var/lib/sealed-push/*/outbox.key || echo none
            """)
        #expect(result.status == 0 && result.output == "refused 77\nnone\n", "\(result)")
        #expect(result.errors.contains("outbox.key is missing, but there is an outbox"), "\(result.errors)")
    }

    @Test("needs root, and what the package creates") func preconditions() throws {
        let result = try run(
            """
            sealedpush setup --topic com.example.app || echo "no folders $?"
            make_folders
            as sealed-push-work setup --topic com.example.app || echo "no root $?"
            sed -i /sealed-push-work/d /etc/passwd
            sealedpush setup --topic com.example.app || echo "no user $?"
            find /etc/sealed-push /var/lib/sealed-push -type f
            """)
        let lines = ["no folders 74", "no root 77", "no user 74", "/etc/sealed-push/sealed-push.env"]
        #expect(result.output.split(separator: "\n").map(String.init) == lines, "\(result.output)")
        for words in ["secrets is missing; the package creates it", "use sudo", "there is no user sealed-push-work"] {
            #expect(result.errors.contains(words), "\(words): \(result.errors)")
        }
    }
}
