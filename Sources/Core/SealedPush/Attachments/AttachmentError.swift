internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
public import Foundation
#endif

/// An error in sealing or opening a file. Contains no part of the file.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum AttachmentError: String, Error, Sendable {
    /// Larger than iOS allows for this type, or larger than announced.
    case tooLarge = "too-large"
    /// Shorter than announced.
    case cut
    /// Not the bytes that were sealed.
    case altered
    /// Not of the declared type.
    case wrongType = "wrong-type"
    /// Empty.
    case empty
    /// The file couldn't be read.
    case unreadable
    /// The file couldn't be written.
    case notWritable = "not-writable"
    /// The disk is full, or the user's quota is used up.
    case diskFull = "disk-full"
    /// The process has as many files open as it may have.
    case tooManyOpenFiles = "too-many-open-files"
    /// The file already exists.
    case exists
    /// The attachment's ID doesn't have 1 to 64 bytes.
    case wrongID = "wrong-id"
}

extension AttachmentError {
    /// Creates the error for a system's error number: one with its own remedy, or `other`.
    package init(code: Int32, or other: AttachmentError) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .diskFull
            case EMFILE, ENFILE: .tooManyOpenFiles
            default: other
            }
    }
}

extension AttachmentError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLarge: "the file is too large for iOS to show (limits: sound 5 MB, picture 10 MB, movie 50 MB)"
        case .cut: "the file is shorter than it should be"
        case .altered: "the file is not the one that was sealed"
        case .wrongType: "the file's contents don't match the type that its name declares"
        case .empty: "the file is empty"
        case .unreadable: "the file can't be read"
        case .notWritable: "the file can't be written; check that its folder exists"
        case .diskFull: "the disk is full, or its quota is used up; free some space first"
        case .tooManyOpenFiles: "too many files are open; raise the limit (`ulimit -n`)"
        case .exists: "the file already exists and won't be overwritten"
        case .wrongID: "an attachment's ID must have 1 to 64 bytes"
        }
    }
}
