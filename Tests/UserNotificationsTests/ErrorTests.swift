import Foundation
import Testing
import UserNotifications

@Suite("An error")
struct ErrorTests {
    @Test("has Apple's raw values and domain")
    func rawValues() {
        let codes: [UNError.Code] = [
            UNError.notificationsNotAllowed, UNError.attachmentInvalidURL, UNError.attachmentUnrecognizedType,
            UNError.attachmentInvalidFileSize, UNError.attachmentNotInDataStore,
            UNError.attachmentMoveIntoDataStoreFailed, UNError.attachmentCorrupt, UNError.notificationInvalidNoDate,
            UNError.notificationInvalidNoContent, UNError.contentProvidingObjectNotAllowed,
            UNError.contentProvidingInvalid, UNError.badgeInputInvalid,
        ]
        #expect(codes.map(\.rawValue) == [1, 100, 101, 102, 103, 104, 105, 1400, 1401, 1500, 1501, 1600])
        #expect(UNErrorDomain == "UNErrorDomain")
        #expect(UNError.errorDomain == UNErrorDomain)
    }

    @Test("is an NSError of its domain and code")
    func bridging() {
        let error = UNError(.attachmentCorrupt, userInfo: ["key": "value"]) as any Error as NSError
        #expect(error.domain == UNErrorDomain)
        #expect(error.code == 105)
        #expect(UNError(.attachmentCorrupt).errorCode == 105)
        #expect(UNError(.attachmentCorrupt) == UNError(.attachmentCorrupt))
        #expect(UNError(.attachmentCorrupt) != UNError(.attachmentInvalidURL))
    }

    @Test("can be caught by its code")
    func pattern() throws {
        do {
            _ = try UNNotificationAttachment(identifier: "", url: URL(fileURLWithPath: "/none.png"))
            Issue.record("The file does not exist.")
        } catch UNError.attachmentUnrecognizedType {
            Issue.record("The wrong pattern matched.")
        } catch UNError.attachmentInvalidURL {
            return
        }
    }
}
