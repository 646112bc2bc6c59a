internal import CommandSupport
internal import Foundation
internal import PushCore

/// The places of the services' files, and their owners.
struct SetupLayout {
    let settings: String
    let keyring: String
    /// The key that opens the keyring.
    let keyFile: String
    let token: String
    let appleKey: String
    let outbox: String
    /// The owner of the keyring, who seals and enrolls.
    let serve: ServiceUser
    /// The outbox's key for each service: a file that only its user can read.
    let outboxKeys: [(path: String, owner: ServiceUser)]
    /// The value of `--outbox-key`, as the services find the file from their own folders.
    let outboxKeyOption: String
    /// Folders to create, of this user only. Empty if a package creates them.
    let folders: [String]

    /// The folder with the settings.
    var folder: String { URL(filePath: settings).deletingLastPathComponent().path(percentEncoded: false).droppingSlash }

    /// Whether this is the layout of the package's units.
    var isPackage: Bool { folders.isEmpty }

    /// The places in Packaging/sealed-push-serve.service, sealed-push-work.service, and sealed-push.tmpfiles.
    static func package() throws(CommandFailure) -> SetupLayout {
        guard geteuid() == 0 else {
            throw CommandFailure(
                status: 77,
                message:
                    "only root can set up the package's services: use sudo, or --in FOLDER for a folder of your own")
        }
        let (settings, data) = ("/etc/sealed-push", "/var/lib/sealed-push")
        let (serve, work) = (try ServiceUser(named: "sealed-push-serve"), try ServiceUser(named: "sealed-push-work"))
        let layout = SetupLayout(
            settings: "\(settings)/sealed-push.env", keyring: "\(data)/serve/Keys",
            keyFile: "\(settings)/secrets/unlock.key", token: "\(settings)/secrets/token",
            appleKey: "\(settings)/apple/apns.p8", outbox: "\(data)/outbox/outbox.sqlite", serve: serve,
            outboxKeys: [("\(data)/serve/outbox.key", serve), ("\(data)/work/outbox.key", work)],
            outboxKeyOption: "outbox.key", folders: [])
        let needed = [layout.settings, "\(settings)/secrets", "\(settings)/apple", layout.keyring, "\(data)/work"]
        for path in needed where try !InputFile.exists(path) {
            throw .file(
                "\(path) is missing; the package creates it. Without the package, copy the files of Packaging as Docs/Install.md says"
            )
        }
        return layout
    }

    /// Everything in one folder, which belongs to this user.
    static func folder(_ folder: String) -> SetupLayout {
        let folder = URL(filePath: folder).absoluteURL.standardized.path(percentEncoded: false).droppingSlash
        let (secrets, outbox) = ("\(folder)/secrets", "\(folder)/outbox")
        return SetupLayout(
            settings: "\(folder)/sealed-push.env", keyring: "\(folder)/Keys", keyFile: "\(secrets)/unlock.key",
            token: "\(secrets)/token", appleKey: "\(folder)/apple/apns.p8", outbox: "\(outbox)/outbox.sqlite",
            serve: .current, outboxKeys: [("\(secrets)/outbox.key", .current)],
            outboxKeyOption: "\(secrets)/outbox.key",
            folders: [folder, "\(folder)/Keys", secrets, outbox, "\(folder)/apple"])
    }

    /// Creates the folders that are missing.
    ///
    /// - Throws: a failure if a folder isn't this user's alone.
    func makeFolders() throws(CommandFailure) {
        for folder in folders {
            do throws(DurableFiles.Failure) { try DurableFiles.ensureFolder(URL(filePath: folder), mode: 0o700) } catch
            {
                throw .file("\(folder) can't be created: \(error.message)")
            }
            try Self.requireOwn(folder)
        }
    }

    /// Checks the folders that exist, without creating any.
    func requireOwnFolders() throws(CommandFailure) {
        for folder in folders where try InputFile.exists(folder) { try Self.requireOwn(folder) }
    }

    private static func requireOwn(_ folder: String) throws(CommandFailure) {
        var facts = stat()
        guard stat(folder, &facts) == 0 else { throw .file("\(folder): \(String(cString: strerror(errno)))") }
        guard facts.st_mode & S_IFMT == S_IFDIR else { throw .file("\(folder) isn't a folder") }
        guard facts.st_uid == geteuid() else {
            throw CommandFailure(
                status: 77,
                message:
                    "\(folder) belongs to user \(facts.st_uid), but this program runs as user \(geteuid()); give it to this user (`chown`)"
            )
        }
        let exposure: Exposure?
        do throws(DurableFiles.Failure) { exposure = try Exposure.ofFolder(folder) } catch {
            throw .file("\(folder): \(error.message)")
        }
        guard exposure == nil else {
            throw CommandFailure(
                status: 77,
                message: "other users can write to \(exposure!.path); run `chmod go-w` on it, or use another folder")
        }
    }
}

extension String {
    fileprivate var droppingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
