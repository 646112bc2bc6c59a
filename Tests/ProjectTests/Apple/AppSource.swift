import Foundation
import TestSupport

/// A file of an app's, as the documents and examples show it.
struct AppSource: Sendable {
    let name: String
    let text: String

    /// The Swift blocks of a document, but those that are left out for one of these reasons.
    static func blocks(of document: String, leavingOut reasons: Set<String> = []) throws -> [AppSource] {
        let text = try Checkout.text(Checkout.folder.appending(path: document))
        var found: [AppSource] = []
        var chapter = ""
        var reason = ""
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block {
                if line != "```" {
                    block = lines + [line]
                } else {
                    if !reasons.contains(reason) {
                        let name = "\(chapter) block \(found.count + 1)"
                        found.append(AppSource(name: name, text: lines.joined(separator: "\n") + "\n"))
                    }
                    block = nil
                }
            } else if line == "```swift" {
                block = []
            } else if line.hasPrefix("#") {
                chapter = String(line.drop { "# ".contains($0) }.prefix { $0.isNumber || $0 == "." })
            }
            reason = line.hasPrefix("<!-- ") ? String(line.dropFirst(5).dropLast(4)) : block == nil ? "" : reason
        }
        return found
    }

    static func file(_ path: String) throws -> AppSource {
        AppSource(
            name: URL(filePath: path).deletingPathExtension().lastPathComponent,
            text: try Checkout.text(Checkout.folder.appending(path: path)))
    }
}

/// How an app's target is compiled.
enum AppMode: String, CaseIterable, Sendable, CustomStringConvertible {
    case swift5 = "Swift 5"
    case swift6 = "Swift 6"
    /// As Xcode 26 makes them.
    case newTarget5 = "a new target, Swift 5"
    case newTarget6 = "a new target, Swift 6"

    var description: String { rawValue }
    var swift: String { self == .swift5 || self == .newTarget5 ? "5" : "6" }

    var flags: [String] {
        switch self {
        case .swift5, .swift6: []
        case .newTarget5:
            Self.isolation
                + Self.features(
                    "DisableOutwardActorInference", "GlobalActorIsolatedTypesUsability", "InferSendableFromCaptures")
        case .newTarget6: Self.isolation
        }
    }

    /// Default isolation, and of "approachable concurrency" what Swift 6 does not have already.
    private static let isolation =
        ["-default-isolation", "MainActor"]
        + features("MemberImportVisibility", "NonisolatedNonsendingByDefault", "InferIsolatedConformances")

    private static func features(_ names: String...) -> [String] { names.flatMap { ["-enable-upcoming-feature", $0] } }
}
