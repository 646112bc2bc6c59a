import Foundation
import Testing
import UserNotifications

@Suite("An error") struct ErrorTests {
    @Test("an error has Apple's raw values and domain") func rawValues() {
        let codes: [UNError.Code] = [UNError.attachmentInvalidURL, UNError.attachmentUnrecognizedType]
        #expect(codes.map(\.rawValue) == [100, 101])
        #expect(UNErrorDomain == "UNErrorDomain")
        #expect(UNError.errorDomain == UNErrorDomain)
    }

    @Test("an error can be caught by its code") func pattern() throws {
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
