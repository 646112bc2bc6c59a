internal import Cpangocairo
internal import Foundation
internal import PushSimulator
internal import SealedPush
internal import _PushBase

/// A small square picture of an image file: PNG and JPEG, of at most 10 MB and 25 megapixels.
///
/// Decoding takes up to four bytes a pixel, and for a JPEG file that comes in several scans six; a damaged file, a larger one
/// or another kind returns nil.
final class Thumbnail: Sendable {
    /// Nothing draws on it after it was made.
    nonisolated(unsafe) let surface: OpaquePointer

    init?(of attachment: ShownAttachment) {
        guard let bytes = try? DurableFiles.read(attachment.file, limit: Self.maximumByteCount + 1),
            bytes.count <= Self.maximumByteCount
        else { return nil }
        let image = PNGImage.surface(bytes) ?? JPEGImage.surface(bytes, side: Self.side)
        guard let image else { return nil }
        defer { cairo_surface_destroy(image) }
        guard let surface = Self.square(of: image, clip: attachment.thumbnail.clippingRect) else { return nil }
        self.surface = surface
    }

    deinit { cairo_surface_destroy(surface) }

    /// A PNG file.
    var png: Data? { PNGImage.file(surface) }

    /// The clip's middle square, or the whole image's, as large as it must be.
    private static func square(of image: OpaquePointer, clip: CGRect?) -> OpaquePointer? {
        let (width, height) = (
            Double(cairo_image_surface_get_width(image)), Double(cairo_image_surface_get_height(image))
        )
        let part = part(clip, width: width, height: height)
        let edge = min(part.width, part.height)
        guard edge > 0, let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(side), Int32(side)),
            let context = cairo_create(surface)
        else { return nil }
        defer { cairo_destroy(context) }
        cairo_scale(context, Double(side) / edge, Double(side) / edge)
        cairo_set_source_surface(context, image, edge / 2 - part.midX, edge / 2 - part.midY)
        cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
        cairo_paint(context)
        guard cairo_status(context) == CAIRO_STATUS_SUCCESS else {
            cairo_surface_destroy(surface)
            return nil
        }
        return surface
    }

    /// In pixels; all of it where there is no clip, or one that makes no sense.
    private static func part(_ clip: CGRect?, width: Double, height: Double) -> CGRect {
        let all = CGRect(x: 0, y: 0, width: width, height: height)
        guard let clip, [clip.minX, clip.minY, clip.width, clip.height].allSatisfy({ (0...1).contains(Double($0)) })
        else { return all }
        let part = CGRect(
            x: Double(clip.minX) * width, y: Double(clip.minY) * height, width: Double(clip.width) * width,
            height: Double(clip.height) * height)
        let seen = part.intersection(all)
        return seen.width >= 1 && seen.height >= 1 ? seen : all
    }

    /// Three pixels to each of 44 points.
    static let side = 132
    static let maximumPixelCount = 25_000_000
    private static let maximumByteCount = 10_485_760
}

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
