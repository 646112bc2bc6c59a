package import Foundation

/// A program that calls ``ExtensionHost``.
package struct ExtensionProgram: Sendable {
    package let file: URL
    package let arguments: [String]

    package init(_ file: URL, arguments: [String] = []) {
        self.file = file
        self.arguments = arguments
    }

    /// The folder that corresponds to the app's bundle.
    var bundle: URL { file.deletingLastPathComponent() }
}
