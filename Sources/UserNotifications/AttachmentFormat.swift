internal import Foundation

/// A file format the system shows as an attachment (Apple, UNNotificationAttachment: the table of file types).
package struct AttachmentFormat: Hashable {
    /// The uniform type identifier.
    package let type: String
    /// The largest file the system takes; "MB" is read the strict way, as a million bytes.
    package let maximumByteCount: Int
    /// The extensions of files that get this format without a type hint.
    let filenameExtensions: [String]
    /// The one that a file of this format usually has.
    package var filenameExtension: String { filenameExtensions.first ?? "" }

    /// The format the type hint names or else, without a hint, the one of the file's extension.
    init?(of url: URL, options: [AnyHashable: Any]) {
        guard let hint = options[UNNotificationAttachmentOptionsTypeHintKey] else {
            self.init(filenameExtension: url.pathExtension.lowercased())
            return
        }
        guard let type = (hint as? String) ?? (hint as? NSString).map(String.init(describing:)) else { return nil }
        self.init(type: type)
    }

    package init?(type: String) {
        guard let format = Self.accepted.first(where: { $0.type == type }) else { return nil }
        self = format
    }

    private init?(filenameExtension: String) {
        guard let format = Self.accepted.first(where: { $0.filenameExtensions.contains(filenameExtension) }) else {
            return nil
        }
        self = format
    }

    private init(_ type: String, _ filenameExtensions: [String], megabytes: Int) {
        self.type = type
        self.filenameExtensions = filenameExtensions
        maximumByteCount = megabytes * 1_000_000
    }

    private static let accepted = [
        AttachmentFormat("public.aiff-audio", ["aiff", "aif"], megabytes: 5),
        AttachmentFormat("com.microsoft.waveform-audio", ["wav", "wave"], megabytes: 5),
        AttachmentFormat("public.mp3", ["mp3"], megabytes: 5),
        AttachmentFormat("public.mpeg-4-audio", ["m4a"], megabytes: 5),
        AttachmentFormat("public.jpeg", ["jpeg", "jpg", "jpe"], megabytes: 10),
        AttachmentFormat("com.compuserve.gif", ["gif"], megabytes: 10),
        AttachmentFormat("public.png", ["png"], megabytes: 10),
        AttachmentFormat("public.mpeg", ["mpeg", "mpg"], megabytes: 50),
        AttachmentFormat("public.mpeg-2-video", ["m2v"], megabytes: 50),
        AttachmentFormat("public.mpeg-4", ["mp4"], megabytes: 50),
        AttachmentFormat("public.avi", ["avi"], megabytes: 50),
    ]
}
