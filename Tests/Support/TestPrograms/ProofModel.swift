import Foundation
import TestSupport

/// A model of the proofs, whose simulations print what they do, so that a test does the same on the real types. Needs Debian's
/// packages spin and gcc, which `Scripts/setup --tests` installs.
package struct ProofModel: Sendable {
    private let file: URL

    /// - Parameter name: The file's name without `.pml`.
    package init(_ name: String) {
        file = Checkout.folder.appending(path: "Tests/Evidence/Proofs/states/\(name).pml")
    }

    /// Returns the lines of the simulations with these seeds.
    package func simulations(_ seeds: ClosedRange<Int>) throws -> [(name: String, lines: [Substring])] {
        // SPIN writes files of fixed names, so that two at once need two folders.
        let folder = try TemporaryFolder()
        let spin = Program(at: "/usr/bin/spin", in: folder.url)
        return try seeds.map { seed in ("seed \(seed)", Self.lines(try spin.run("-T", "-n\(seed)", file.path).output)) }
    }

    /// Lets SPIN search for a way to a statement that chance hardly reaches, and returns the lines on that way.
    package func way(to statement: String) throws -> (name: String, lines: [Substring]) {
        let folder = try TemporaryFolder()
        let text = try Checkout.text(file).replacing(statement, with: "\(statement); assert(false)")
        _ = try folder.write(text, to: "model.pml")
        let script = "spin -a model.pml && gcc -w -DSAFETY -o pan pan.c && ./pan -m100000 && spin -t -T model.pml"
        return (
            "the way to \(statement)", Self.lines(try Program(at: "/bin/sh", in: folder.url).run("-c", script).output)
        )
    }

    private static func lines(_ output: String) -> [Substring] {
        output.split(separator: "\n").map { $0.drop(while: \.isWhitespace) }
    }
}
