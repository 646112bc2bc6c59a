public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushSender
public import SealedPush

struct AttachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Encrypt a picture, sound or movie, and add it to a message's content.",
        usage: """
            sealedpush attach <file> --url <url> --output <output>
                     (--content <content> | --entry <entry>) [<options>]
            """,
        discussion: """
            It writes the encrypted file, which any web server may serve at --url, and the attachment's entry: into the \
            content, or into a file of its own. The entry holds the file's key: keep it as secret as the content. iOS \
            shows pictures of at most 10 MB, sounds of 5 MB and movies of 50 MB.

            Example:
              sealedpush attach photo.jpg --url https://example.com/9f2c --output 9f2c \\
                --content content.json
            """)

    @Argument(help: ArgumentHelp("The picture, sound or movie.", valueName: "file")) var file: String

    @Option(help: "Where devices find it: https, or http on localhost.") var url: FileAddress

    @Option(help: "A new file, to be stored there.") var output: String

    @Option(help: "The file of the content JSON to add the attachment to.") var content: String?

    @Option(help: "A new file for the entry alone.") var entry: String?

    @Option(parsing: .unconditional, help: "The attachment's name in its message, if not the file's.") var id: String?

    @Option(help: "The kind of file, if its name does not say it.") var type: MediaType?

    @Flag(help: "Do not encrypt the file: everybody can see it.") var plain = false

    @Flag(help: "Print one JSON object: name, length and hash, no key.") var json = false

    func validate() throws {
        guard (content == nil) != (entry == nil) else { throw ValidationError("Give either --content or --entry.") }
    }

    func run() throws {
        // Read first: a content that can't be read must not leave an encrypted file behind.
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
            .input("\(file): iOS shows no files of this kind; name it with --type")
        case .tooLarge, .cut, .altered, .wrongType, .empty: .input("\(file): \(error)")
        }
    }

    private var name: String { id ?? String(URL(filePath: file).lastPathComponent.prefix(64)) }

    private func checkRoom(in content: Content?) throws {
        guard let attachments = content?.attachments, let file = self.content else { return }
        guard !attachments.contains(where: { $0.id == name })
        else { throw Failure.input("\(file) has an attachment \(name) already: give this one another name with --id") }
        guard attachments.count < Content.Attachment.maximumCount
        else { throw Failure.input("\(file) has \(attachments.count) attachments, and a message has no more") }
    }

    /// At once: whoever reads the content sees it with the attachment or without.
    private func replace(_ name: String, with content: Content) throws {
        do throws(ContentError) { try content.checkForSealing() } catch { throw Failure.input("\(name): \(error)") }
        do throws(DurableFiles.Failure) {
            // It holds a key now. Where the name is a link, what it leads to is replaced.
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
        try Output.line("The entry, with the file's key, is in \(content ?? entry ?? "").")
    }
}

extension MediaType: ExpressibleByArgument {}

/// Where a file will lie, as a person types it: `https`, or `http` to this machine, for the simulator.
struct FileAddress: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        guard let url = URL(string: argument).flatMap({ RemoteFile.url($0.absoluteString) }),
            RemoteFile(url: url, byteCount: 0, hash: [], key: nil).isFetchable
        else { return nil }
        self.url = url
    }
}
