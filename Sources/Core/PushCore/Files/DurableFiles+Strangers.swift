#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension DurableFiles {
    /// Who else may put files into a folder.
    package enum Stranger: Sendable {
        /// It belongs to another user.
        case owner
        /// Its mode lets others write.
        case writers
    }

    /// Who else may put files into a folder, so that what lies there need not be this user's; nil where nobody may, and where
    /// there is nothing. Links are followed.
    ///
    /// What belongs to root is as safe as one's own. Sticky folders are not: nobody takes away another's file there, but
    /// anybody may be the first to make one.
    package static func stranger(in folder: URL) -> Stranger? {
        var facts = stat()
        guard stat(folder.path(percentEncoded: false), &facts) == 0 else { return nil }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else { return .owner }
        return facts.st_mode & 0o022 == 0 ? nil : .writers
    }
}
