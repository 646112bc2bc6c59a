internal import Foundation
internal import PushCore

/// Standard output, and new files named on the command line. A program never reports success for output that it couldn't
/// write, and a failed attempt leaves no file that would block the next one.
package enum OutputFile {
    /// Writes to standard output.
    package static func print(_ bytes: [UInt8]) throws(CommandFailure) {
        do throws(DurableFiles.Failure) { try DurableFiles.writeAll(bytes, to: STDOUT_FILENO) } catch {
            throw .file("can't write to standard output: \(error.message)")
        }
    }

    /// Refuses a file that already exists, before any work is done for it.
    package static func requireNew(_ file: String) throws(CommandFailure) {
        var facts = stat()
        guard lstat(file, &facts) != 0 else { throw .file("\(file) already exists and won't be overwritten") }
        guard errno == ENOENT else { throw .file("\(file): \(String(cString: strerror(errno)))") }
    }

    /// Durably creates a file; never overwrites an existing one.
    ///
    /// - Parameter mode: the file's mode, which the umask restricts.
    package static func create(_ file: String, _ bytes: [UInt8], mode: UInt16) throws(CommandFailure) {
        do throws(DurableFiles.Failure) { try write(bytes, to: file, mode: mode) } catch {
            guard error.code != EEXIST else { throw .file("\(file) already exists and won't be overwritten") }
            throw .file("\(file) can't be written: \(error.message)")
        }
    }

    static func write(_ bytes: [UInt8], to file: String, mode: UInt16) throws(DurableFiles.Failure) {
        let place = URL(filePath: file)
        try DurableFiles.write(bytes, to: place, mode: mode)
        try DurableFiles.sync(folder: place.deletingLastPathComponent())
    }

    /// Runs `body`. If it fails, removes the files, which the command has just created.
    package static func removing(_ files: [String], unless body: () throws -> Void) throws {
        do { try body() } catch {
            for file in files { unlink(file) }
            throw error
        }
    }
}
