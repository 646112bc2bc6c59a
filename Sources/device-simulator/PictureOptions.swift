internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import LockScreenPicture
internal import PushSimulator
internal import SealedPush
internal import _PushBase

/// Where pictures of the lock screen go, and how they look.
struct PictureOptions: ParsableArguments {
    @Option(help: "Draw the lock screen into this PNG file.")
    var picture: String?

    @Option(help: "Write the lock screen into this file as a page of HTML.")
    var html: String?

    @Flag(help: "The lock screen is dark.")
    var dark = false

    @Option(help: "The app's name on the lock screen; otherwise the last part of --topic.")
    var appName: String?

    @Flag(help: "Replace a picture or page that is there.")
    var force = false

    func validate() throws {
        guard picture != "", html != "" else { throw ValidationError("--picture and --html name a file.") }
        guard picture == nil || picture != html else {
            throw ValidationError("--picture and --html name two files, not one.")
        }
        guard appName.map(VisibleText.isVisible) ?? true else {
            throw ValidationError("--app-name has no visible text.")
        }
    }

    var isAsked: Bool { picture != nil || html != nil }

    /// Before anything is delivered: a push that was delivered can't be taken back.
    func checkFiles() throws(Failure) {
        for path in [picture, html].compactMap(\.self) {
            let file = URL(filePath: path)
            let exists = FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
            guard force || !exists else { throw Self.exists(path) }
            let folder = file.deletingLastPathComponent().path(percentEncoded: false)
            guard FileManager.default.isWritableFile(atPath: folder) else {
                throw Self.notWritten(path, "its folder is not there, or is not yours to write in")
            }
        }
    }

    func write(_ deliveries: [LockScreenPicture.Delivery], topic: String) throws(Failure) {
        guard isAsked else { return }
        let name = appName ?? topic.split(separator: ".").last.map(String.init) ?? topic
        let screen = LockScreenPicture(deliveries, appName: name, isDark: dark)
        if let picture {
            let png: Data
            do { png = try screen.png() } catch { throw Failure(status: 74, message: "\(error)") }
            try write(png, to: picture)
        }
        if let html { try write(Data(screen.html.utf8), to: html) }
    }
}

extension PictureOptions {
    private func write(_ bytes: Data, to path: String) throws(Failure) {
        do {
            try bytes.write(to: URL(filePath: path), options: force ? .atomic : .withoutOverwriting)
        } catch CocoaError.fileWriteFileExists {
            throw Self.exists(path)
        } catch {
            throw Self.notWritten(path, "is its folder full, or the path a folder's?")
        }
    }

    private static func notWritten(_ path: String, _ reason: String) -> Failure {
        Failure(status: 74, message: "\(TerminalText.printable(path)) can't be written: \(reason)")
    }

    private static func exists(_ path: String) -> Failure {
        Failure(
            status: 74,
            message: "\(TerminalText.printable(path)) exists already, and is not overwritten without --force")
    }
}
