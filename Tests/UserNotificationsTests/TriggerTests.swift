import Foundation
import Testing
import UserNotifications

@Suite("A trigger")
struct TriggerTests {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)

    @Test("of a remote notification never repeats")
    func push() {
        #expect(!UNPushNotificationTrigger().repeats)
        #expect(UNPushNotificationTrigger() == UNPushNotificationTrigger())
    }

    @Test("after an interval fires that much later")
    func interval() {
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
        #expect(trigger.repeats)
        #expect(trigger.nextTriggerDate(after: start) == start.addingTimeInterval(60))
        #expect(trigger.nextTriggerDate() ?? .distantPast > Date())
    }

    @Test("at a date fires at the next one that matches, in the zone of its components")
    func calendar() throws {
        var components = DateComponents(hour: 12)
        components.calendar = Calendar(identifier: .gregorian)
        components.timeZone = TimeZone(secondsFromGMT: 0)
        let noon = UNCalendarNotificationTrigger(dateMatching: components, repeats: false)
        #expect(noon.nextTriggerDate(after: start) == Date(timeIntervalSince1970: 1_700_049_600))
        components.year = 2020
        let past = UNCalendarNotificationTrigger(dateMatching: components, repeats: false)
        #expect(past.nextTriggerDate(after: start) == nil)
    }

    @Test("traps on an interval of 0")
    func zeroInterval() async {
        await #expect(processExitsWith: .failure) {
            _ = UNTimeIntervalNotificationTrigger(timeInterval: 0, repeats: false)
        }
    }

    @Test("traps when it repeats faster than each minute")
    func fastRepetition() async {
        await #expect(processExitsWith: .failure) {
            _ = UNTimeIntervalNotificationTrigger(timeInterval: 59, repeats: true)
        }
    }

    @Test("is equal by value, and a request with it comes back from an archive")
    func value() throws {
        let triggers = [
            nil, UNPushNotificationTrigger(),
            UNTimeIntervalNotificationTrigger(timeInterval: 5, repeats: false),
            UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true),
            UNCalendarNotificationTrigger(dateMatching: DateComponents(hour: 8, minute: 30), repeats: true),
            UNCalendarNotificationTrigger(dateMatching: DateComponents(hour: 9), repeats: true),
        ]
        let requests = triggers.map {
            UNNotificationRequest(identifier: "1", content: UNNotificationContent(), trigger: $0)
        }
        for (position, request) in requests.enumerated() {
            #expect(try roundTrip(request) == request)
            #expect(requests.firstIndex(of: request) == position)
        }
    }
}
