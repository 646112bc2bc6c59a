import Foundation
import Testing
import UserNotifications

@Suite("A service extension") struct ServiceExtensionTests {
    private func request(category: String = "") -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = "New message"
        content.categoryIdentifier = category
        content.userInfo = ["aps": ["mutable-content": 1], "text": "Hello"]
        return UNNotificationRequest(identifier: "1", content: content, trigger: UNPushNotificationTrigger())
    }

    @Test("a service extension of the template's shape changes the title and leaves the request alone")
    func template() {
        let service: UNNotificationServiceExtension = NotificationService()
        let request = request()
        var answer: UNNotificationContent?
        service.didReceive(request) { answer = $0 }
        #expect(answer?.title == "New message [modified]")
        #expect(request.content.title == "New message")
    }

    @Test("a service extension of the template's shape answers with its best attempt when time is over") func expiry() {
        let service = NotificationService()
        var answers: [UNNotificationContent] = []
        service.didReceive(request(category: "slow")) { answers.append($0) }
        #expect(answers.isEmpty)
        service.serviceExtensionTimeWillExpire()
        #expect(answers.map(\.title) == ["New message [modified]"])
    }

    @Test("a service extension may answer from a task") func task() async {
        let body = await withCheckedContinuation { continuation in
            AsyncNotificationService().didReceive(request()) { continuation.resume(returning: $0.body) }
        }
        #expect(body == "Hello")
    }

    @Test("a service extension that overrides nothing answers with what came") func base() {
        var answer: UNNotificationContent?
        let service = UNNotificationServiceExtension()
        service.didReceive(request()) { answer = $0 }
        service.serviceExtensionTimeWillExpire()
        #expect(answer == request().content)
    }
}
