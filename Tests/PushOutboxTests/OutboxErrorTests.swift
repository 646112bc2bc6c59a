import PushSender
import SealedPush
import Testing

@testable import PushOutbox

@Suite("Kinds of outbox errors") struct OutboxErrorTests {
    @Test(
        "a caller's mistake, a storage that is busy or fails, a missing right, and damage are told apart",
        arguments: [
            (
                .request,
                [
                    .unknownDevice, .unknownUser, .otherUser("d"), .otherEnrollment("d"), .enrolledElsewhere("d"),
                    .tooManyDevices(limit: 3), .notEnrolled, .record(.malformed), .challenge(.malformed),
                    .seal(.otherTopic), .keyUsedForOthers, .keyText,
                ]
            ), (.busy, [.busy, .deviceBusy, .unreachable("x")]),
            (
                .storage,
                [
                    .cannotOpen("x"), .readOnly("x"), .replaced("x"), .tooManyOpenFiles, .diskFull,
                    .database(code: 1, "x"), .server(code: "x", "x"), .connection("x"),
                ]
            ), (.access, [.exposed("x"), .notPermitted("x"), .keyNeeded]),
            (.damage, [.damaged, .foreign, .otherSchema, .otherKey, .forged("d"), .damagedDevice("d")]),
        ] as [(OutboxError.Kind, [OutboxError])])
    func kinds(kind: OutboxError.Kind, errors: [OutboxError]) {
        for error in errors { #expect(error.kind == kind, "\(error)") }
    }
}
