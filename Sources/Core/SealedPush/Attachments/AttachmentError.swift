/// Why a file was not sealed, or did not open. Holds nothing of it.
public enum AttachmentError: String, Error, Sendable {
    /// Larger than iOS shows a file of this kind, or than was said.
    case tooLarge = "too-large"
    /// Shorter than was said.
    case cut
    /// Other bytes than were sealed.
    case altered
    /// Not of the kind that it was said to be.
    case wrongType = "wrong-type"
    /// Empty.
    case empty
    /// A file could not be read.
    case unreadable
    /// A file could not be written: mostly, the disk is full.
    case notWritable = "not-writable"
    /// The file exists already.
    case exists
}

extension AttachmentError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLarge: "the file is larger than iOS shows one of its kind (sound 5 MB, picture 10 MB, movie 50 MB)"
        case .cut: "the file is shorter than it should be"
        case .altered: "the file is not the one that was sealed"
        case .wrongType: "the file is not of the kind that its name says"
        case .empty: "the file is empty"
        case .unreadable: "the file can't be read"
        case .notWritable: "the file can't be written: is there such a folder, and room on the disk?"
        case .exists: "the file exists already, and is not overwritten"
        }
    }
}
