import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

// Apple's classes of what was delivered have no public initializers.
#if !canImport(Darwin)
@Suite("Envelopes that a carrier moves into another kind of push") struct MovedEnvelopeTests {
    enum Kind: CaseIterable {
        case message
        case filteredWithdrawal
        case backgroundWithdrawal
    }

    /// The functions that open an envelope and record it.
    enum Opening: CaseIterable {
        case `extension`
        case open
        case reopened
        case withdraw

        func belongs(_ kind: Kind) -> Bool { (kind == .backgroundWithdrawal) == (self == .withdraw) }
    }

    /// The call to the key store that fails in the first of two openings; nil for none.
    static let failures: [Int?] = [nil, 0, 1, 2]

    @Test(
        "Content that doesn't belong in a kind of push isn't recorded there, even if the first opening fails",
        arguments: Kind.allCases, Opening.allCases)
    func moved(kind: Kind, opening: Opening) async throws {
        for failing in Self.failures {
            for error in [SecretItemError.locked, .other(-50)] {
                let fixture = try Fixture()
                let row = Comment(rawValue: "\(kind) \(opening) \(String(describing: failing)) \(error)")
                let field = try seal(kind, by: fixture)
                let watched = WatchedItems(
                    fixture.keys,
                    WatchedItems.Watch(beforeCall: { (number, _) throws(SecretItemError) in
                        if number == failing { throw error }
                    }))
                for _ in 1...2 { try await open(field, by: opening, fixture, fixture.configuration(keys: watched)) }

                let belongs = opening.belongs(kind)
                switch kind {
                case .message:
                    let shown = await fixture.show(field, identifier: "own")
                    #expect(shown.body == (belongs ? "local default" : "text"), row)
                case .filteredWithdrawal:
                    let shown = await fixture.show(field, identifier: "own")
                    #expect(shown.body == (belongs ? "local default" : ""), row)
                case .backgroundWithdrawal:
                    let again = try PushOpening(fixture.configuration(), environment: fixture.environment())
                        .openWithdrawal(field: field)
                    #expect(again?.isRepeat == belongs, row)
                }
            }
        }
    }

    private func seal(_ kind: Kind, by fixture: Fixture) throws -> String {
        switch kind {
        case .message: try fixture.seal(Content(body: "text"))
        case .filteredWithdrawal: try fixture.seal(Content(withdrawing: .thread("nina"), isFiltered: true))
        case .backgroundWithdrawal: try fixture.seal(Content(withdrawing: .thread("nina")))
        }
    }

    private func open(
        _ field: String, by opening: Opening, _ fixture: Fixture, _ app: ServiceConfiguration
    ) async throws {
        nonisolated(unsafe) let center = UNUserNotificationCenter()
        var app = app
        app.environment = fixture.environment()
        app.environment.center = { center }
        switch opening {
        case .extension: _ = await fixture.show(field, identifier: "moved", by: app, environment: app.environment)
        case .open: _ = try? await app.open(envelope: field, requestIdentifier: "moved")
        case .withdraw: _ = try? await app.withdraw(envelope: field)
        case .reopened:
            let content = UNMutableNotificationContent()
            content.userInfo = [
                "sealed-push": ["outcome": "safe-default", "reason": "locked", "envelope": field]
            ]
            let request = UNNotificationRequest(identifier: "moved", content: content, trigger: nil)
            _ = await app.reopened(UNNotification(request: request, date: .now))
        }
    }
}
#endif
