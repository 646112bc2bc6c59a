import Foundation
import TestSupport
import Testing

/// What a reading of the device half against Apple's documents found, with the test that shows each point, or one sentence
/// that says why there is none.
@Suite("The review of the device half") struct ReviewTests {
    enum Answer: Sendable {
        /// The suite's type and the function, in any test target.
        case test(String)
        case reason(String)
    }

    static let points: [(point: String, answer: Answer)] = [
        ("1 after one logout, an app could never enroll again", .test("AppPushesTests/logsInAgain")),
        ("2 the guide pinned a libsodium without ML-KEM", .test("ReviewTests/pinned")),
        ("3 an older Xcode resolves the server's packages, too", .test("DevicePackageTests/resolves")),
        ("4 App Store Connect rejects the example's extension", .test("AppleProjectTests/sharing")),
        ("5 Keychain Sharing and the team's prefix aren't needed", .test("ConfigurationTests/derives")),
        ("6 a tap counts only if the user info has one member", .test("NotificationSealTests/added")),
        ("7 new content may not be dismissed on a person's other devices", .test("ShowingTests/everyProperty")),
        ("8 an app that opens a PushKit push is killed", .reason("PushKit isn't supported.")),
        ("9 a withdrawal ended the process of a test on a Mac", .test("TestDeviceTests/withdraws")),
        ("10 a Focus can't match a person with a contact, and a group has no name", .test("ShowingTests/contacts")),
        ("11 no stage can suppress a notification", .reason("It needs an entitlement that Apple grants.")),
        ("12 a Focus filter ignores the app", .test("ShowingTests/opened")),
        ("13 a sealed text can't be translated on the phone", .test("TranslationStageTests/replaces")),
        ("14 a debug build's token counted as one for production", .test("ConfigurationTests/environment")),
        ("15 a comment went on after its code's last line", .test("ReviewTests/fences")),
        (
            "16 the ledger's files take up to 80 MB",
            .reason("Its 20,000 files are empty or short, and only a phone's disk shows what each takes.")
        ),
        (
            "17 each notification with stages holds a thread until it ends",
            .reason("The limit was measured at 64 at once, and Linux has none.")
        ),
        (
            "18 a daily refresh may take longer than its 30 seconds",
            .reason("Only iOS runs it; the handler gives up at 20.")
        ),
        ("19 a killed extension left no trace", .test("RunMarkersTests/entries")),
    ]

    @Test("Each of its points has a test that exists, or a reason") func points() throws {
        #expect(Self.points.map { Int($0.point.prefix { $0.isNumber }) } == Array(1...19))
        let files = try Checkout.files(in: "Tests", ending: ".swift").filter { $0.path.contains("Tests/") }
        for (point, answer) in Self.points {
            switch answer {
            case .reason(let reason): #expect(reason.hasSuffix(".") && reason.count > 20, "\(point)")
            case .test(let name):
                let parts = name.split(separator: "/")
                let found = try files.contains { file in
                    let text = try Checkout.text(file)
                    return text.contains(" \(parts[0]) {") && text.contains("func \(parts[1])(")
                }
                #expect(found, "\(point): \(name)")
            }
        }
    }

    @Test("No document pins a revision, and the manifest takes the first libsodium with ML-KEM") func pinned() throws {
        for document in try Checkout.files(in: "Docs", ending: ".md") {
            let text = try Checkout.text(document)
            #expect(text.firstMatch(of: /revision: "/) == nil, "\(document.lastPathComponent)")
        }
        let manifest = try Checkout.text(Checkout.folder.appending(path: "Package.swift"))
        #expect(manifest.contains(#".package(url: "https://github.com/jedisct1/swift-sodium", from: "0.11.0")"#))
    }

    @Test("A code block in a comment ends with its own line; otherwise, the rest of the page would be code")
    func fences() throws {
        for folder in ["Core", "Device", "Server"] {
            for file in try Checkout.files(in: "Sources/\(folder)", ending: ".swift") {
                var isInside = false
                for line in try Checkout.text(file).split(separator: "\n") {
                    let words = line.drop { $0 == " " }
                    guard words.hasPrefix("/// ```") else {
                        if !words.hasPrefix("///") {
                            #expect(!isInside, "\(file.lastPathComponent): \(line)")
                            isInside = false
                        }
                        continue
                    }
                    #expect(!isInside || words == "/// ```", "\(file.lastPathComponent): \(line)")
                    isInside.toggle()
                }
            }
        }
    }
}
