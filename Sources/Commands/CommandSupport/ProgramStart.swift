internal import Foundation
internal import PushCore

/// The start of both programs: the check of everything that they're given as text, before any message repeats it.
///
/// Swift replaces each invalid byte with U+FFFD, so that two different names would become one: another file, or another
/// person's account.
package enum ProgramStart {
    /// Hides the environment's secrets, and checks the arguments, the environment, and the current folder.
    ///
    /// - Throws: a failure that repeats nothing that was typed: status 64, or 69 if this machine's libsodium can't be used.
    package static func begin() throws(CommandFailure) {
        if let problem = Sodium.problem { throw CommandFailure(status: 69, message: problem) }
        SecretFile.hideEnvironment()
        for index in 1..<max(1, Int(CommandLine.argc)) where !isText(CommandLine.unsafeArgv[index]) {
            throw .usage("argument \(index) isn't valid UTF-8; type it in UTF-8, or rename the file")
        }
        for name in variables where !isText(getenv(name)) {
            throw .usage("the environment variable \(name) isn't valid UTF-8; change it or unset it")
        }
        let folder = getcwd(nil, 0)
        defer { free(folder) }
        guard isText(folder) else {
            throw .usage("the path of the current folder isn't valid UTF-8; change to another folder, or rename it")
        }
        guard !SecretArgument.isIn(CommandLine.arguments) else {
            throw .usage(
                "a secret was typed as an argument, so it is now in the shell's history and was visible to other users; treat it as exposed. Secrets must come from files; see --help"
            )
        }
    }

    /// The variables that a program or a library reads as text. `SEALED_PUSH_KEY` is read as bytes.
    package static let variables = [
        "HOME", "TMPDIR", "XDG_STATE_HOME", "NOTIFY_SOCKET", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER",
        "PGSERVICE", "PGSERVICEFILE", "PGPASSFILE", "PGSSLMODE", "PGREQUIREAUTH", "PGOPTIONS",
    ]

    /// Returns true for nil, too.
    private static func isText(_ start: UnsafeMutablePointer<CChar>?) -> Bool {
        guard let start else { return true }
        return String(strictUTF8: UnsafeRawBufferPointer(start: start, count: byteCount(ofText: start))) != nil
    }
}
