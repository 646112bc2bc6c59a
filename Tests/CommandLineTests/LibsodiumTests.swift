import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("libsodium, as a program meets it", .blocking) struct LibsodiumTests {
    /// A library that is loaded before libsodium, and says that it is 1.0.17.
    private static let old = """
        int sodium_library_version_major(void) { return 10; }
        int sodium_library_version_minor(void) { return 2; }
        const char *sodium_version_string(void) { return "1.0.17"; }
        """

    @Test(
        "one that is too old ends the program before it does anything", arguments: ["sealedpush", "device-simulator"])
    func tooOld(program: String) throws {
        let folder = try TemporaryFolder()
        let source = try folder.write(Self.old, to: "old.c")
        let library = folder.appending("old.so").path
        // The compiler that lies beside Swift's.
        let built = try Program(at: "/bin/sh").run(
            "-c", #""$(dirname "$(readlink -f "$(command -v swift)")")/clang" -shared -fPIC -o "$0" "$1""#, library,
            source)
        #expect(built.status == 0, "\(built.errors)")
        let words = program == "sealedpush" ? ["keys", "generate", "sender", "newsroom"] : ["apns", "--folder", "A"]
        let result = try Program(program, in: folder.url).run(words, environment: ["LD_PRELOAD": library])
        #expect(result.errors == "\(program): libsodium 1.0.17 is too old: 1.0.18 or newer is needed\n")
        #expect(result.status == 69 && result.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("Keys").path))
    }
}
