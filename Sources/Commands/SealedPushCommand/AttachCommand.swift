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
        guard content != "-" else {
            throw ValidationError("--content is changed in place, so it can't be standard input; use --entry.")
        }
        guard file != "-" || (id != nil && type != nil) else {
            throw ValidationError("Standard input has no name; specify --id and --type.")
        }
    }

    func run() throws {
        // Read the content first, so that unreadable content doesn't leave an encrypted file behind.
        let before = try content.map(ContentFile.read)
        let name = try name()
        for file in [output, entry].compactMap(\.self) { try OutputFile.requireNew(file) }
        guard entry != output else {
            throw CommandFailure.usage("--entry and --output are the same file; use different ones")
        }
        try checkRoom(for: name, in: before)
        let attachment = try seal(as: name)
        try OutputFile.removing([output]) {
            if var content = before, let file = self.content {
                content.attachments.append(attachment)
                try replace(file, with: content)
            } else if let entry {
                try OutputFile.create(entry, attachment.entry, mode: 0o600)
            }
        }
        try report(attachment.file)
    }

    private func seal(as name: String) throws -> Content.Attachment {
        let source = try InputFile.place(file)
        let length = (try? source.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
        let progress = Progress()
        defer { progress.end() }
        do throws(AttachmentError) {
            return try Sealer.sealAttachment(
                source, to: URL(filePath: output), at: url.url, id: name, type: type, isPlain: plain
            ) { done in
                let total = length > 0 ? " of \((length / 1_000_000).grouped)" : ""
                progress.show("\((done / 1_000_000).grouped)\(total) MB")
            }
        } catch { throw failure(error) }
    }

    private func failure(_ error: AttachmentError) -> CommandFailure {
        switch error {
        case .exists: .file("\(output): \(error)")
        case .notWritable: .file("\(output): \(error)\(Self.reason(folder, W_OK))")
        case .unreadable: .file("\(file): \(error)\(Self.reason(file, R_OK))")
        case .wrongType where type == nil && MediaType(filenameExtension: URL(filePath: file).pathExtension) == nil:
            .input("\(file): iOS doesn't show files of this type; if the type is wrong, set it with --type")
        case .diskFull, .tooManyOpenFiles: .file("\(output): \(error)")
        case .wrongID: .input("--id: \(error)")
        case .tooLarge, .cut, .altered, .wrongType, .empty: .input("\(file): \(error)")
        }
    }

    private var folder: String { URL(filePath: output).deletingLastPathComponent().path(percentEncoded: false) }

    /// Returns the reason why a file or folder can't be used, if the system knows one.
    private static func reason(_ path: String, _ mode: Int32) -> String {
        access(path, mode) == 0 ? "" : ": \(String(cString: strerror(errno)))"
    }

    /// The ID that was given, or the file's name, cut between characters to the length of an ID.
    private func name() throws -> String {
        guard let id else {
            return URL(filePath: file).lastPathComponent.prefix(byteCount: Content.Attachment.maximumIDByteCount)
        }
        guard Content.Attachment.isID(id) else { throw failure(.wrongID) }
        return id
    }

    private func checkRoom(for name: String, in content: Content?) throws {
        guard let attachments = content?.attachments, let file = self.content else { return }
        guard !attachments.contains(where: { $0.id.hasBytes(of: name) })
        else {
            throw CommandFailure.input(
                "\(file) already has an attachment \(name); give this one a different ID with --id")
        }
        guard attachments.count < Content.Attachment.maximumCount
        else {
            throw CommandFailure.input(
                "\(file) already has \(attachments.count) attachments, the most that a message can have")
        }
    }

    /// Replaces the content file atomically, so that readers see it either with the attachment or without.
    private func replace(_ name: String, with content: Content) throws {
        do throws(ContentError) { try content.checkForSealing() } catch {
            throw CommandFailure.input("\(name): \(error)")
        }
        do throws(DurableFiles.Failure) {
            // The file now contains a key, so only its owner may read it. If it is a symbolic link, its target is replaced.
            try DurableFiles.replace(
                URL(filePath: name).resolvingSymlinksInPath(), with: content.json + [UInt8(ascii: "\n")], mode: 0o600)
        } catch { throw CommandFailure.file("\(name) can't be written: \(error.message)") }
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
        guard let url = URL(string: argument).flatMap({ RemoteFile.url($0.absoluteString) }) else { return nil }
        self.url = url
    }
}
