internal import ArgumentParser
internal import CommandSupport
internal import SealedPush

/// The content of a message, as a person names it.
enum ContentFile {
    static let help = ArgumentHelp("A file with content JSON; - for standard input.", valueName: "content")

    static func read(_ file: String) throws -> Content {
        let bytes = try Input.read(file, limit: Content.maximumUnsealedByteCount)
        do {
            return try Content(parsing: bytes, maximumByteCount: Content.maximumUnsealedByteCount)
        } catch {
            throw Failure.input("\(file): \(error)")
        }
    }

    /// Warns about content that is sealed as asked for, and that no device will open.
    static func warn(of content: Content) {
        let now = Timestamp.now()
        if let sent = content.sent, now.seconds(since: sent) > 30 * 86_400 {
            Failure.report("warning: the content was sent more than 30 days ago, and no device will open it")
        }
        if let sent = content.sent, sent.seconds(since: now) > 26 * 3_600 {
            Failure.report("warning: the content is dated more than 26 hours ahead, and no device will open it yet")
        }
        if let expires = content.expires, now > expires {
            Failure.report("warning: the content has expired: devices open it for ten more minutes at most")
        }
    }
}
