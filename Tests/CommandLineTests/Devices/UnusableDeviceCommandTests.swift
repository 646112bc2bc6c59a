import Foundation
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

/// Tests the commands and paths that show devices, on a database to which an attacker has added a device that nobody should see.
@Suite("Devices' rows that aren't valid, in commands", .blocking) struct UnusableDeviceCommandTests {
    /// Names and users that aren't valid, and how they are shown.
    private static let names: [(column: String, text: String, shown: String)] = [
        ("name", "", ""), ("name", "a\u{1b}[2Jb", #"a\u{1b}[2Jb"#), ("name", "\u{200b}", #"\u{200b}"#),
        ("name", "bob-phone\n", #"bob-phone\u{a}"#),
        ("name", String(repeating: "y", count: 200), String(repeating: "y", count: 128) + "…"),
        ("user", "\u{202e}\u{7f}", #"\u{202e}\u{7f}"#), ("topic", "no topic", ""),
    ]

    @Test(
        "send skips it; every listing names it with escapes, and it can be removed by its number",
        arguments: [false, true], [false, true])
    func commands(isInPostgres: Bool, isKeyed: Bool) async throws {
        let fixture = try await SendingFixture()
        let database = isInPostgres ? try await PostgresServer.shared.value.database() : nil
        defer { withExtendedLifetime(database) {} }
        let outbox =
            ["--outbox", database?.address ?? "outbox.sqlite"] + (isKeyed ? ["--outbox-key", "outbox.key"] : [])
        func run(_ words: String...) throws -> Program.Result { try fixture.run(words + outbox) }
        func enroll(_ name: String) throws {
            let token = try fixture.device(name, enrolled: false)
            let enrolled = try run("device", "enroll", name, "--user", "anna", "--token", token, "--keyring", "Keys")
            #expect(enrolled.status == 0, "\(enrolled.errors)")
        }
        try enroll("alice-phone")
        try enroll("bob-phone")
        var served: ServedCommand?
        for (column, text, shown) in Self.names {
            let hex = text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            if let database {
                let column = column == "user" ? "user_name" : column
                try await database.runUnchecked(
                    "UPDATE sealed_push.devices SET \(column) = convert_from('\\x\(hex)', 'UTF8') WHERE name = 'bob-phone'"
                )
            } else {
                let script = """
                    import sqlite3
                    c = sqlite3.connect('outbox.sqlite', timeout=60)
                    c.execute('PRAGMA ignore_check_constraints = ON')
                    c.execute("UPDATE devices SET \(column) = CAST(x'\(hex)' AS TEXT) WHERE name = 'bob-phone'")
                    c.commit()
                    """
                let changed = try Program(at: "/usr/bin/python3", in: fixture.folder.url).run(["-c", script])
                try #require(changed.status == 0, "\(changed.errors)")
            }
            // A topic that isn't the sender's is never among the recipients of a broadcast.
            let counts: [(words: [String], skipped: Int?)] = [
                (["--all"], column == "topic" ? nil : 1), (["--user", "anna"], column == "user" ? nil : 1),
            ]
            for (words, skipped) in counts {
                let sent = try fixture.run(
                    fixture.sendArguments(words + ["--queue-only", "--json"], apns: false) + outbox)
                let report = try #require(sent.objects.first, "\(sent.errors)")
                #expect(report["enqueued"] as? Int == 1, "\(column) \(shown)")
                #expect((report["skipped"] as? [String: Int])?["damaged"] == skipped, "\(column) \(shown)")
            }

            let listed = try run("device", "list")
            #expect(listed.output.contains("alice-phone") && !listed.output.contains("bob-phone"))
            let words = listed.errors.firstMatch(
                of:
                    /warning: row (\d+) of the devices, "(.*)" of the user "(.*)", isn't a valid registration; find out who/
            )
            let warning = try #require(words, "\(listed.errors)").output
            if column != "topic" { #expect(String(column == "name" ? warning.2 : warning.3) == shown) }
            let isSafe = { (text: String) in
                !text.unicodeScalars.contains {
                    $0.value < 0x20 && $0 != "\n" || [0x1b, 0x200b, 0x202e].contains($0.value)
                }
            }
            #expect(isSafe(listed.errors))
            let ofUser = try run("device", "list", "--user", "anna", "--json")
            #expect(ofUser.objects.count == 1 && ofUser.errors.contains("warning: row") == (column != "user"))

            let status = try run("outbox", "status")
            #expect(status.output.contains("unusable  1 of the devices\n  row \(warning.1) of"), "\(status)")
            #expect(isSafe(status.output))
            let counted = try #require(try run("outbox", "status", "--json").objects.first)
            let damaged = counted["damaged"] as? [[String: Any]]
            #expect(damaged?.map { $0["row"] as? Int } == [Int(warning.1)])
            #expect(counted["forged"] is NSNull == !isKeyed && (counted["forged"] as? [Any])?.isEmpty ?? true)
            let doctor = try run("doctor", "--host")
            #expect(doctor.status == 1 && doctor.output.contains("FAIL  outbox: row \(warning.1) of"), "\(doctor)")
            #expect(isSafe(doctor.output))

            if served == nil { served = try await ServedCommand.start(fixture, ["--listen", "own.sock"] + outbox) }
            let service = try #require(served)
            let page = try service.ask("/v1/devices")
            let members = try JSONSerialization.jsonObject(with: Data(page.body.utf8)) as? [String: Any]
            #expect((members?["devices"] as? [Any])?.count == 1)
            let unusable = members?["unusable"] as? [[String: Any]]
            #expect(unusable?.map { $0["row"] as? Int } == [Int(warning.1)], "\(page.body)")
            #expect(unusable?.first?["reason"] as? String == "damaged")
            if column == "name" { #expect(unusable?.first?["device"] as? String == shown) }
            let message = #"{"user":"anna","content":{"alert":{"body":"Lunch?"}}}"#
            let posted = try service.ask("/v1/messages", message)
            #expect(
                posted.status == "202" && posted.body.contains(#""damaged":1"#) == (column != "user"), "\(posted.body)")

            #expect(try run("device", "remove", "--row", "0", "--yes").status == 65)
            #expect(try run("device", "remove", "bob-phone", "--row", String(warning.1), "--yes").status == 64)
            let removed = try run("device", "remove", "--row", String(warning.1), "--yes")
            #expect(removed.status == 0 && removed.output.hasPrefix("Removed row \(warning.1), "), "\(removed)")
            #expect(isSafe(removed.output))
            #expect(try run("device", "list").errors.isEmpty)
            #expect(try run("outbox", "status", "--json").objects.first?["damaged"] as? [String] == [])
            if (column, text) != (Self.names.last!.column, Self.names.last!.text) {
                let again = try run(
                    "device", "enroll", "bob-phone", "--user", "anna", "--token", "00ff", "--keyring", "Keys")
                #expect(again.status == 0, "\(again.errors)")
            }
        }
        #expect(try run("device", "remove").status == 64)
        #expect(try run("outbox", "purge").status == 64)
    }

    @Test("the status is shown to a login that only delivers, which may not read the devices' keys")
    func delivering() async throws {
        let fixture = try await SendingFixture()
        let database = try await PostgresServer.shared.value.database()
        defer { withExtendedLifetime(database) {} }
        let outbox = ["--outbox", database.address]
        #expect(try fixture.run(["outbox", "status"] + outbox).status == 0)
        let role = ["PGOPTIONS": "-c role=sealed_push_deliver"]
        let shown = try fixture.run(["outbox", "status"] + outbox, environment: role)
        #expect(shown.status == 0 && shown.output.contains("unusable  not checked: this login"), "\(shown)")
        let counted = try fixture.run(["outbox", "status", "--json"] + outbox, environment: role)
        #expect(counted.objects.first?["damaged"] is NSNull, "\(counted)")
        #expect(
            try fixture.run(["doctor", "--host"] + outbox, environment: role).output.contains("can be read; devices: 0")
        )
    }
}
