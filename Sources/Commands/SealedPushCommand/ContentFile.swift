import ArgumentParser
internal import CommandSupport
internal import PushCore
internal import SealedPush

/// The content of a message, read from the file named on the command line.
enum ContentFile {
    static let help = ArgumentHelp("A file with content JSON; - for standard input.", valueName: "content")

    static func read(_ file: String) throws -> Content {
        let bytes = try InputFile.read(file, limit: Content.maximumUnsealedByteCount)
        let content: Content
        do {
            content = try Content(
                parsing: Array(bytes.withoutByteOrderMark), maximumByteCount: Content.maximumUnsealedByteCount)
        } catch { throw CommandFailure.input("\(file): \(error)") }
        guard !content.isExpired(at: .now())
        else { throw CommandFailure.input("\(file): \"expires\" is in the past; give \(Content.momentRule)") }
        let members = try? JSONReader.members(bytes.withoutByteOrderMark)
        for suspect in members.map(Content.suspectMembers) ?? [] {
            CommandFailure.report("warning: \(Content.warning(of: suspect))")
        }
        return content
    }

    /// Warns about content that was sealed as requested but that devices can't open.
    static func warn(of content: Content) {
        let now = Timestamp.now()
        if let sent = content.sent, now.seconds(since: sent) > TimeRules.maximumAge {
            CommandFailure.report("warning: the content's \"sent\" is more than 30 days ago, so no device will open it")
        }
        if let sent = content.sent, sent.seconds(since: now) > TimeRules.maximumLead(isAnonymous: false) {
            CommandFailure.report(
                "warning: the content's \"sent\" is more than 26 hours ahead, so no device will open it yet")
        }
        for attachment in content.attachments where attachment.file.isOnPrivateNetwork {
            CommandFailure.report(
                "warning: the attachment \(attachment.id) is on a private network; only apps that allow private addresses fetch it"
            )
        }
    }
}
