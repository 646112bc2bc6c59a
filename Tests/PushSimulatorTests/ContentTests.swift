import Foundation
import TestSupport
import Testing
import UserNotifications

@Suite("The content of a notification") struct ContentTests {
    private func filled() -> UNMutableNotificationContent {
        let content = UNMutableNotificationContent()
        content.badge = 3
        content.body = "100%% of %d"
        content.categoryIdentifier = "message"
        content.launchImageName = "launch"
        content.sound = .defaultCriticalSound(withAudioVolume: 0.5)
        content.subtitle = "subtitle"
        content.threadIdentifier = "thread"
        content.title = "title"
        content.userInfo = ["aps": ["alert": ["body": "b"], "badge": 3], "e": ["x", 1, NSNull()]]
        content.targetContentIdentifier = "window"
        content.interruptionLevel = .timeSensitive
        content.relevanceScore = 0.25
        content.filterCriteria = "work"
        return content
    }

    @Test("a copy of mutable content, including a request's, is an immutable snapshot") func copy() throws {
        let content = filled()
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        let copy = try #require(content.copy() as? UNNotificationContent)
        content.title = "changed"
        for copy in [copy, request.content] {
            #expect(!(copy is UNMutableNotificationContent))
            #expect(copy == filled() && copy != content)
        }
    }

    @Test("a mutable copy of content can change without the original") func mutableCopy() throws {
        let original = filled()
        for source in [original, try #require(original.copy() as? UNNotificationContent)] {
            let copy = try #require(source.mutableCopy() as? UNMutableNotificationContent)
            #expect(copy == source)
            copy.userInfo["e"] = nil
            #expect(copy != source)
            #expect(source.userInfo.count == 2)
        }
    }

    @Test("equal contents have the same hash, and contents with any different value aren't equal") func equality() {
        #expect(filled() == filled() && filled().hash == filled().hash)
        #expect(UNNotificationContent() == UNMutableNotificationContent())
        #expect(!UNNotificationContent().isEqual("content"))
        let empty = UNNotificationContent()
        #expect(empty.title == "" && empty.body == "" && empty.badge == nil && empty.sound == nil)
        #expect(empty.interruptionLevel == .active && empty.relevanceScore == 0 && empty.filterCriteria == nil)
        let changes: [(UNMutableNotificationContent) -> Void] = [
            { $0.badge = 4 }, { $0.body = "" }, { $0.categoryIdentifier = "" }, { $0.launchImageName = "" },
            { $0.sound = .default }, { $0.subtitle = "" }, { $0.threadIdentifier = "" }, { $0.title = "" },
            { $0.userInfo = ["aps": ["alert": ["body": "c"], "badge": 3], "e": ["x", 1, NSNull()]] },
            { $0.targetContentIdentifier = nil },
            { $0.interruptionLevel = .passive }, { $0.relevanceScore = 1 }, { $0.filterCriteria = nil },
        ]
        for (position, change) in changes.enumerated() {
            let content = filled()
            change(content)
            #expect(content != filled(), "change \(position)")
        }
    }

    @Test("requests differ by identifier, content, and trigger, and a remote trigger never repeats")
    func requests() {
        func request(
            _ identifier: String = "1", _ content: UNNotificationContent? = nil, _ trigger: UNNotificationTrigger? = nil
        ) -> UNNotificationRequest {
            UNNotificationRequest(identifier: identifier, content: content ?? filled(), trigger: trigger)
        }
        #expect(request() == request())
        for other in [
            request("2"), request("1", UNNotificationContent()), request("1", nil, UNPushNotificationTrigger()),
        ] {
            #expect(request() != other)
        }
        #expect(!UNPushNotificationTrigger().repeats && UNPushNotificationTrigger() == UNPushNotificationTrigger())
    }

    @Test("a service extension without overrides returns the content unchanged") func base() {
        var answer: UNNotificationContent?
        let service = UNNotificationServiceExtension()
        service.didReceive(UNNotificationRequest(identifier: "1", content: filled(), trigger: nil)) { answer = $0 }
        service.serviceExtensionTimeWillExpire()
        #expect(answer == filled())
    }

    @Test(
        "a localized text takes its arguments in order or by position",
        arguments: [
            ("%@ and %@", "a and b"), ("%2$@ before %1$@", "b before a"), ("100 %%", "100 %"), ("plain", "plain"),
            ("%@%@%@", "ab%@"), ("%3$@ %0$@ %d %", "%3$@ %0$@ %d %"),
            ("%99999999999999999999$@", "%99999999999999999999$@"),
        ])
    func fill(format: String, text: String) {
        #expect(LocalizedFormat.fill(format, with: ["a", "b"]) == text)
    }
}

@Suite("The sound of a notification") struct SoundTests {
    private let bell = UNNotificationSoundName("bell.caf")

    @Test("each factory creates a sound with the right properties, and equality is by value") func factories() {
        let sounds: [(UNNotificationSound, UNNotificationSoundName?, isCritical: Bool, isRingtone: Bool, Float?)] = [
            (.default, nil, false, false, nil), (.defaultCritical, nil, true, false, nil),
            (.defaultRingtone, nil, false, true, nil),
            (.defaultCriticalSound(withAudioVolume: 0.5), nil, true, false, 0.5),
            (UNNotificationSound(named: bell), bell, false, false, nil),
            (.ringtoneSoundNamed(bell), bell, false, true, nil), (.criticalSoundNamed(bell), bell, true, false, nil),
            (.criticalSoundNamed(bell, withAudioVolume: 1), bell, true, false, 1),
        ]
        for (sound, name, isCritical, isRingtone, volume) in sounds {
            #expect(sound.name == name && sound.isCritical == isCritical)
            #expect(sound.isRingtone == isRingtone && sound.volume == volume)
            #expect(sound.copy() as? UNNotificationSound == sound)
        }
        #expect(Set(sounds.map(\.0)).count == sounds.count)
        #expect(UNNotificationSound.default == .default)
    }

    @Test(
        "a sound has a volume from 0 to 1",
        arguments: [[-1, 0], [0, 0], [0.25, 0.25], [2, 1], [.nan, 0]] as [[Float]])
    func volume(askedAndGiven: [Float]) {
        let (asked, given) = (askedAndGiven[0], askedAndGiven[1])
        #expect(UNNotificationSound.defaultCriticalSound(withAudioVolume: asked).volume == given)
        #expect(UNNotificationSound.criticalSoundNamed(bell, withAudioVolume: asked).volume == given)
    }
}

@Suite("An attachment of a notification") struct StandInAttachmentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String) throws -> URL { URL(filePath: try folder.write("bytes", to: name)) }

    /// Returns the code of the `UNError` that an attachment is refused with.
    private func refusal(_ url: URL, hint: Any? = nil) -> UNError.Code? {
        do {
            _ = try UNNotificationAttachment(
                identifier: "", url: url, options: hint.map { [UNNotificationAttachmentOptionsTypeHintKey: $0] })
            return nil
        } catch { return (error as? UNError)?.code }
    }

    @Test(
        "an attachment takes its type from the file's extension",
        arguments: [
            ("a.aiff", "public.aiff-audio"), ("a.wav", "com.microsoft.waveform-audio"), ("a.mp3", "public.mp3"),
            ("a.m4a", "public.mpeg-4-audio"), ("a.JPG", "public.jpeg"), ("a.gif", "com.compuserve.gif"),
            ("a.png", "public.png"), ("a.mpg", "public.mpeg"), ("a.m2v", "public.mpeg-2-video"),
            ("a.mp4", "public.mpeg-4"), ("a.avi", "public.avi"),
        ])
    func typeFromExtension(name: String, type: String) throws {
        let url = try file(name)
        let attachment = try UNNotificationAttachment(identifier: "image", url: url, options: nil)
        #expect(attachment.identifier == "image" && attachment.url == url && attachment.type == type)
    }

    @Test("an attachment prefers a type hint to the extension") func typeHint() throws {
        let options = [UNNotificationAttachmentOptionsTypeHintKey: "public.png"]
        #expect(try UNNotificationAttachment(identifier: "", url: file("a.mov"), options: options).type == "public.png")
        #expect(try refusal(file("a.png"), hint: "public.plain-text" as NSString) == .attachmentUnrecognizedType)
    }

    @Test("an attachment needs a file URL of a readable regular file, and an accepted type") func refusals() throws {
        try FileManager.default.createDirectory(at: folder.appending("folder.png"), withIntermediateDirectories: false)
        let web = try #require(URL(string: "https://example.com/a.png"))
        for url in [web, folder.appending("none.png"), folder.appending("folder.png")] {
            #expect(refusal(url) == .attachmentInvalidURL)
        }
        for name in ["a", "a.txt", "a.mov", "a.png.zip"] {
            #expect(try refusal(file(name)) == .attachmentUnrecognizedType)
        }
    }

    @Test("an error has Apple's raw values and domain, and can be caught by its code") func errors() {
        let codes: [UNError.Code] = [UNError.attachmentInvalidURL, UNError.attachmentUnrecognizedType]
        #expect(codes.map(\.rawValue) == [100, 101])
        #expect(UNErrorDomain == "UNErrorDomain" && UNError.errorDomain == UNErrorDomain)
        do {
            _ = try UNNotificationAttachment(identifier: "", url: folder.appending("none.png"))
            Issue.record("The file does not exist.")
        } catch UNError.attachmentInvalidURL {
            return
        } catch { Issue.record("The wrong pattern matched.") }
    }

    @Test("an attachment has the thumbnail options that it was created with") func thumbnail() throws {
        let options: [AnyHashable: Any] = [
            UNNotificationAttachmentOptionsThumbnailHiddenKey: NSNumber(value: true),
            UNNotificationAttachmentOptionsThumbnailClippingRectKey: [
                "X": 0, "Y": 0.25, "Width": NSNumber(value: 1), "Height": CGFloat(0.5),
            ] as [String: Any], UNNotificationAttachmentOptionsThumbnailTimeKey: ["value": 300, "timescale": 600],
        ]
        let thumbnail = try UNNotificationAttachment(identifier: "", url: file("a.mp4"), options: options).thumbnail
        #expect(thumbnail.isHidden && thumbnail.time == 0.5)
        #expect(thumbnail.clippingRect == CGRect(x: 0, y: 0.25, width: 1, height: 0.5))
        let plain = try UNNotificationAttachment(identifier: "", url: file("a.gif")).thumbnail
        #expect(!plain.isHidden && plain.clippingRect == nil && plain.time == nil)
    }

    @Test("attachments are compared by value, even within content") func value() throws {
        let options: [AnyHashable: Any] = [
            UNNotificationAttachmentOptionsThumbnailHiddenKey: true, UNNotificationAttachmentOptionsThumbnailTimeKey: 2,
            UNNotificationAttachmentOptionsThumbnailClippingRectKey: ["X": 0, "Y": 0, "Width": 1, "Height": 0.5],
        ]
        let url = try file("a b.png")
        let attachment = try UNNotificationAttachment(identifier: "image", url: url, options: options)
        #expect(try attachment == UNNotificationAttachment(identifier: "image", url: url, options: options))
        #expect(try attachment != UNNotificationAttachment(identifier: "image", url: url))
        let content = UNMutableNotificationContent()
        content.attachments = [attachment]
        #expect(content != UNMutableNotificationContent())
        #expect(content.attachments == [attachment])
    }
}
