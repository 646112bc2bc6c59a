package import Foundation
import PushCore
package import SealedPush

/// Empty files, one per run that hasn't shown its notification yet. A process that ends before that leaves its own: killed, for
/// its memory say, or without power. Without them, that would look like a push that never arrived. Source: DeviceState 33.5.
package struct RunMarkers: Sendable {
    private let root: URL

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Marks a run's start; nil if that fails, which has no other effect. Removes markers that are a week old.
    func begin(at now: Timestamp) -> URL? {
        do throws(DurableFiles.Failure) { try FileProtection.always.ensureFolder(Self.folderName, in: root) } catch {
            return nil
        }
        for (file, time) in markers() where now.seconds(since: time) > Self.lifetime { end(file) }
        let file = folder.appending(path: "\(now.secondsSince1970).\(Hex.encode(SecureRandom.bytes(count: 4)))")
        let descriptor = open(file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        close(descriptor)
        return file
    }

    /// Removes the marker of a run that has shown its notification.
    func end(_ file: URL) { unlink(file.path(percentEncoded: false)) }

    /// Returns the start of each run that never ended, oldest first. Later than a minute, none is in progress.
    package func unfinished(at now: Timestamp) -> [Timestamp] {
        markers().map(\.time).filter { now.seconds(since: $0) > 60 }.sorted()
    }

    private func markers() -> [(file: URL, time: Timestamp)] {
        ((try? DurableFiles.names(in: folder)) ?? []).compactMap { name in
            guard let text = name.split(separator: ".").first, let seconds = FileLedger.decimal(String(text)),
                let time = Timestamp(secondsSince1970: seconds)
            else { return nil }
            return (folder.appending(path: name), time)
        }
    }

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }

    private static let folderName = "runs"
    private static let lifetime: Int64 = 7 * 86_400
}
