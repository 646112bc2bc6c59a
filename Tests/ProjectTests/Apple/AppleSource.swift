import Foundation

/// What a source becomes in the rehearsal's copy, line for line: Tests/AppleRehearsal/README.md.
enum AppleSource {
    /// For which the conditions stand.
    enum System: String, Sendable { case iOS, macOS }

    static func rewrite(_ text: String, for system: System) -> String {
        rules(system).reduce(text) { text, rule in
            text.replacingOccurrences(of: rule.pattern, with: rule.replacement, options: .regularExpression)
        }
    }

    private static func rules(_ system: System) -> [(pattern: String, replacement: String)] {
        let absent = #"canImport\((?:Glibc|FoundationEssentials|FoundationNetworking)\)|os\(Linux\)"#
        // A condition has at most a handful of these, and each pass takes the last one left in a line.
        let condition = #"(?m)^( *#(?:if|elseif) .*?)"#
        return Array(repeating: (condition + "(?:\(absent))", "$1false"), count: 4)
            + Array(repeating: (condition + #"os\(\#(system.rawValue)\)"#, "$1true"), count: 4) + [
                (#"(?m)^( *(?:(?:public|package|internal) )?import )Foundation$"#, "$1AppleFoundation"),
                (
                    #"(?m)^( *(?:@_exported )?(?:(?:public|package|internal) )?import )(Glibc|FoundationEssentials|FoundationNetworking)$"#,
                    "$1NothingOfApples"
                ),
                // Linux's compiler has no bridging.
                (#" as (CF[A-Za-z]+)\b"#, " ~~ $1.self"), (#" as (String|Data)\)"#, " ~~ $1.self)"),
            ]
    }
}
