/// The pixels of a PNG file.
struct Pixels {
    let width: Int
    let height: Int
    private let bytes: [UInt8]
    private let stride: Int
    /// The position of red in a pixel: first or last of three.
    private let red: Int

    struct Color: Hashable {
        let red: UInt8
        let green: UInt8
        let blue: UInt8

        /// The greatest difference among the three components.
        func distance(to other: Color) -> Int {
            max(abs(Int(red) - Int(other.red)), abs(Int(green) - Int(other.green)), abs(Int(blue) - Int(other.blue)))
        }
    }

    struct Unreadable: Error {}

    init(width: Int, height: Int, stride: Int, bytes: [UInt8], red: Int) {
        (self.width, self.height, self.stride, self.bytes, self.red) = (width, height, stride, bytes, red)
    }

    /// A pixel is red, green, and blue, or blue, green, and red, plus a byte that matters only for transparency.
    subscript(x: Int, y: Int) -> Color {
        let index = y * stride + x * 4
        return Color(red: bytes[index + red], green: bytes[index + 1], blue: bytes[index + 2 - red])
    }

    /// Returns the rows, from the top, that have a pixel near the color in these columns.
    func rows(of color: Color, within columns: Range<Int>? = nil, tolerance: Int = 60) -> [Int] {
        let columns = (columns ?? 0..<width).clamped(to: 0..<width)
        return (0..<height).filter { y in columns.contains { self[$0, y].distance(to: color) <= tolerance } }
    }

    func columns(of color: Color, tolerance: Int = 60) -> [Int] {
        (0..<width).filter { x in (0..<height).contains { self[x, $0].distance(to: color) <= tolerance } }
    }
}

#if !canImport(CoreGraphics)
import Ccairo

extension Pixels {
    /// Reads a PNG file with Cairo.
    init(_ png: [UInt8]) throws {
        var rest = png[...]
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
        defer { cairo_surface_destroy(surface) }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
            let data = cairo_image_surface_get_data(surface)
        else { throw Unreadable() }
        let height = Int(cairo_image_surface_get_height(surface))
        let stride = Int(cairo_image_surface_get_stride(surface))
        self.init(
            width: Int(cairo_image_surface_get_width(surface)), height: height, stride: stride,
            bytes: Array(UnsafeBufferPointer(start: data, count: stride * height)), red: 2)
    }
}
#endif

#if canImport(CoreGraphics)
import CoreGraphics
import Foundation
import ImageIO

extension Pixels {
    /// Reads a PNG file with Image I/O.
    init(_ png: [UInt8]) throws {
        guard let source = CGImageSourceCreateWithData(Data(png) as CFData, nil),
            let image = CGImageSourceCreateImageAtIndex(source, 0, nil),
            let space = CGColorSpace(name: CGColorSpace.sRGB)
        else { throw Unreadable() }
        let stride = image.width * 4
        var bytes = [UInt8](repeating: 0, count: stride * image.height)
        let isDrawn = bytes.withUnsafeMutableBytes { buffer in
            guard
                let context = CGContext(
                    data: buffer.baseAddress, width: image.width, height: image.height, bitsPerComponent: 8,
                    bytesPerRow: stride, space: space, bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
            else { return false }
            context.draw(image, in: CGRect(x: 0, y: 0, width: image.width, height: image.height))
            return true
        }
        guard isDrawn else { throw Unreadable() }
        self.init(width: image.width, height: image.height, stride: stride, bytes: bytes, red: 0)
    }
}
#endif
