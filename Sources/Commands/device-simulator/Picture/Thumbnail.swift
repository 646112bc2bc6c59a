internal import Cpangocairo
internal import Foundation
internal import PushCore
internal import PushSimulator
internal import SealedPush

/// A small square picture of the middle of a PNG file of up to 10 MB and 25 megapixels.
///
/// Its initializers return nil for a damaged file, a larger one, or another type. Decoding takes up to four bytes per pixel.
final class Thumbnail: Sendable {
    /// The picture, which isn't changed after it's created.
    nonisolated(unsafe) let surface: OpaquePointer

    convenience init?(of attachment: ShownAttachment) {
        guard let bytes = try? DurableFiles.read(attachment.file, limit: Self.maximumByteCount + 1) else { return nil }
        self.init(of: bytes)
    }

    init?(of bytes: [UInt8]) {
        guard bytes.count <= Self.maximumByteCount, let image = PNGImage.surface(bytes) else { return nil }
        defer { cairo_surface_destroy(image) }
        guard let surface = Self.square(of: image) else { return nil }
        self.surface = surface
    }

    deinit { cairo_surface_destroy(surface) }

    private static func square(of image: OpaquePointer) -> OpaquePointer? {
        let (width, height) = (
            Double(cairo_image_surface_get_width(image)), Double(cairo_image_surface_get_height(image))
        )
        let edge = min(width, height)
        guard edge > 0, let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(side), Int32(side)),
            let context = cairo_create(surface)
        else { return nil }
        defer { cairo_destroy(context) }
        cairo_scale(context, Double(side) / edge, Double(side) / edge)
        cairo_set_source_surface(context, image, (edge - width) / 2, (edge - height) / 2)
        cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
        cairo_paint(context)
        guard cairo_status(context) == CAIRO_STATUS_SUCCESS else {
            cairo_surface_destroy(surface)
            return nil
        }
        return surface
    }

    /// The width and height in pixels: 44 points of three pixels each.
    static let side = 132
    static let maximumPixelCount = 25_000_000
    private static let maximumByteCount = 10_485_760
}

/// An attachment's preview on the right side of a notification.
enum Preview {
    case picture(Thumbnail)
    /// A sign instead of a picture, because the file isn't an image, or is one that can't be read here.
    case sign(String)

    init(_ attachment: ShownAttachment) {
        switch attachment.kind {
        case .image where attachment.type == "com.compuserve.gif": self = .sign("GIF")
        case .image where attachment.type == "public.jpeg": self = .sign("JPG")
        case .image: self = Thumbnail(of: attachment).map(Preview.picture) ?? .sign("?")
        case .audio: self = .sign("\u{266a}")
        case .movie: self = .sign("\u{25b6}")
        }
    }
}

/// PNG files, read and written by Cairo.
enum PNGImage {
    /// Decodes a PNG file. Returns nil if it isn't valid, or if it's too large.
    static func surface(_ bytes: [UInt8]) -> OpaquePointer? {
        // PNG, third edition, 5.2 and 11.2.1: the signature, then IHDR, which starts with width and height.
        guard bytes.count > 33, bytes.starts(with: signature) else { return nil }
        let (width, height) = (number(bytes[16..<20]), number(bytes[20..<24]))
        guard (1...32_767).contains(width), (1...32_767).contains(height), width * height <= Thumbnail.maximumPixelCount
        else { return nil }
        guard let needed = needed(of: bytes) else { return nil }
        var rest = needed[...]
        let surface = withUnsafeMutablePointer(to: &rest) { rest in
            cairo_image_surface_create_from_png_stream(
                { closure, data, count in
                    guard let rest = closure?.assumingMemoryBound(to: ArraySlice<UInt8>.self), let data,
                        rest.pointee.count >= Int(count)
                    else { return CAIRO_STATUS_READ_ERROR }
                    rest.pointee.prefix(Int(count)).withUnsafeBufferPointer { part in
                        if let start = part.baseAddress { data.update(from: start, count: part.count) }
                    }
                    rest.pointee = rest.pointee.dropFirst(Int(count))
                    return CAIRO_STATUS_SUCCESS
                }, rest)
        }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else {
            cairo_surface_destroy(surface)
            return nil
        }
        return surface
    }

    /// Returns the signature and the chunks needed for the picture, without all others, which may expand to gigabytes.
    /// Returns nil if a chunk extends beyond the end of the file.
    static func needed(of bytes: [UInt8]) -> [UInt8]? {
        var kept = signature
        var start = signature.count
        while start < bytes.count {
            guard bytes.count - start >= 12 else { return nil }
            let length = number(bytes[start..<start + 4])
            guard length <= bytes.count - start - 12 else { return nil }
            let end = start + 12 + length
            let type = String(decoding: bytes[(start + 4)..<(start + 8)], as: UTF8.self)
            if ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"].contains(type) { kept += bytes[start..<end] }
            start = end
        }
        return kept
    }

    static func file(_ surface: OpaquePointer) -> Data? {
        var bytes = Data()
        let status = withUnsafeMutablePointer(to: &bytes) { bytes in
            cairo_surface_write_to_png_stream(
                surface,
                { closure, data, count in
                    guard let bytes = closure?.assumingMemoryBound(to: Data.self), let data else {
                        return CAIRO_STATUS_WRITE_ERROR
                    }
                    bytes.pointee.append(data, count: Int(count))
                    return CAIRO_STATUS_SUCCESS
                }, bytes)
        }
        return status == CAIRO_STATUS_SUCCESS ? bytes : nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
}
