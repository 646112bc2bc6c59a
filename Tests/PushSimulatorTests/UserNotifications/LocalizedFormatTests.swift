import Foundation
import Testing
import UserNotifications

@Suite("A localized text") struct LocalizedFormatTests {
    @Test(
        "takes its arguments in order or by position",
        arguments: [
            ("%@ and %@", "a and b"), ("%2$@ before %1$@", "b before a"), ("100 %%", "100 %"), ("plain", "plain"),
            ("%@%@%@", "ab%@"), ("%3$@ %0$@ %d %", "%3$@ %0$@ %d %"),
            ("%99999999999999999999$@", "%99999999999999999999$@"),
        ])
    func fill(format: String, text: String) {
        #expect(LocalizedFormat.fill(format, with: ["a", "b"]) == text)
    }
}
