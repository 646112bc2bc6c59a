internal import PushSimulator

/// What stands for an attachment at the right of a notification.
enum Preview {
    case picture(Thumbnail)
    /// A sign in place of a picture: the file is no image, or none that is read here.
    case sign(String)

    init(_ attachment: ShownAttachment) {
        switch attachment.kind {
        case .image where attachment.type == "com.compuserve.gif": self = .sign("GIF")
        case .image: self = Thumbnail(of: attachment).map(Preview.picture) ?? .sign("?")
        case .audio: self = .sign("\u{266a}")
        case .movie: self = .sign("\u{25b6}")
        }
    }
}
