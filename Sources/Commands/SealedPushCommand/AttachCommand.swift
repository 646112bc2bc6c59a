public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushSender
public import SealedPush

struct AttachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Encrypt a picture, sound, or movie, and add it to a message's content.",
        usage: """
            sealedpush attach <file> --url <url> --output <output>
                     (--content <content> | --entry <entry>) [<options>]
            """,
        discussion: """
            Writes the encrypted file, which any web server can serve at --url, and the attachment's entry, either into \
            the content or into a separate file. The entry contains the file's key, so keep it as secret as the content. \
            iOS shows pictures of up to 10 MB, sounds of up to 5 MB, and movies of up to 50 MB.

            Example:
              sealedpush attach photo.jpg --url https://example.com/9f2c --output 9f2c \\
                --content content.json
            """)

    @Argument(help: .value("file", "The picture, sound, or movie.")) var file: String

    @Option(help: "The file's URL: https, or http on localhost.") var url: FileAddress

    @Option(help: "A new file, to be stored at --url.") var output: String

    @Option(help: "The content JSON file to add the attachment to.") var content: String?

    @Option(help: "A new file for the entry alone.") var entry: String?

    @Option(parsing: .unconditional, help: "The attachment's ID in the message, if not its filename.") var id: String?

    @Option(help: "The type of the file, if its name doesn't show it.") var type: MediaType?

    @Flag(help: "Don't encrypt the file; anyone can see it.") var plain = false

    @Flag(help: "Print one JSON object: name, length, and hash; no key.") var json = false

    func validate() throws {
        guard (content == nil) != (entry == nil) else { throw ValidationError("Use either --content or --entry.") }
    }

    func run() throws {
        // Read the content first, so that unreadable content doesn't leave an encrypted file behind.
        let before = try content.map(ContentFile.read)
        if let entry { try Output.requireNew(entry) }
        try checkRoom(in: before)
        let attachment = try seal()
        if var content = before, let file = self.content {
            content.attachments.append(attachment)
            try replace(file, with: content)
        } else if let entry {
            try Secrets.makeFile(entry, attachment.entry)
        }
        try report(attachment.file)
    }

    private func seal() throws -> Content.Attachment {
        let source = URL(filePath: file)
        let length = (try? source.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
        let progress = Progress()
        defer { progress.end() }
        do throws(AttachmentError) {
            return try Sealer.sealAttachment(
                source, to: URL(filePath: output), at: url.url, id: name, type: type, isPlain: plain
            ) { done in progress.show("\((done / 1_000_000).grouped) of \((length / 1_000_000).grouped) MB") }
        } catch { throw failure(error) }
    }

    private func failure(_ error: AttachmentError) -> Failure {
        switch error {
        case .exists, .notWritable: .file("\(output): \(error)")
        case .unreadable: .file("\(file): \(error)")
        case .wrongType where type == nil && MediaType(filenameExtension: URL(filePath: file).pathExtension) == nil:
            .input("\(file): iOS doesn't show files of this type; if the type is wrong, set it with --type")
        case .tooLarge, .cut, .altered, .wrongType, .empty: .input("\(file): \(error)")
        }
    }

    private var name: String { id ?? String(URL(filePath: file).lastPathComponent.prefix(64)) }

    private func checkRoom(in content: Content?) throws {
        guard let attachments = content?.attachments, let file = self.content else { return }
        guard !attachments.contains(where: { $0.id == name })
        else {
            throw Failure.input("\(file) already has an attachment \(name); give this one a different ID with --id")
        }
        guard attachments.count < Content.Attachment.maximumCount
        else {
            throw Failure.input(
                "\(file) already has \(attachments.count) attachments, the most that a message can have")
        }
    }

    /// Replaces the content file atomically, so that readers see it either with the attachment or without.
    private func replace(_ name: String, with content: Content) throws {
        do throws(ContentError) { try content.checkForSealing() } catch { throw Failure.input("\(name): \(error)") }
        do throws(DurableFiles.Failure) {
            // The file now contains a key, so only its owner may read it. If it is a symbolic link, its target is replaced.
            try DurableFiles.replace(
                URL(filePath: name).resolvingSymlinksInPath(), with: content.json + [UInt8(ascii: "\n")], mode: 0o600)
        } catch { throw Failure.file("\(name) can't be written: \(error.message)") }
    }

    private func report(_ file: RemoteFile) throws {
        if json {
            return try Output.json([
                "output": .string(output), "bytes": .count(file.byteCount), "hash": .string(Hex.encode(file.hash)),
                "url": .string(file.url.absoluteString), "encrypted": .bool(file.key != nil),
            ])
        }
        try Output.line("Store \(output) (\(file.byteCount.grouped) bytes) at \(file.url.absoluteString).")
        try Output.line("The entry, including the file's key, is in \(content ?? entry ?? "").")
    }
}

extension MediaType: ExpressibleByArgument {}

/// The URL at which a file will be stored, as typed: `https`, or `http` to this machine, for the simulator.
struct FileAddress: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        guard let url = URL(string: argument).flatMap({ RemoteFile.url($0.absoluteString) }),
            RemoteFile(url: url, byteCount: 0, hash: [], key: nil).isFetchable
        else { return nil }
        self.url = url
    }
}
