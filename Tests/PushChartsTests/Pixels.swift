import Ccairo
import Foundation
import Testing

/// A PNG file's pixels.
struct Pixels {
    let width: Int
    let height: Int
    private let bytes: [UInt8]
    private let stride: Int

    struct Color: Hashable {
        let red: UInt8
        let green: UInt8
        let blue: UInt8

        /// The greatest difference of the three.
        func distance(to other: Color) -> Int {
            max(
                abs(Int(red) - Int(other.red)), abs(Int(green) - Int(other.green)), abs(Int(blue) - Int(other.blue)))
        }
    }

    struct Unreadable: Error {}

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
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(surface)
        else { throw Unreadable() }
        width = Int(cairo_image_surface_get_width(surface))
        height = Int(cairo_image_surface_get_height(surface))
        stride = Int(cairo_image_surface_get_stride(surface))
        bytes = Array(UnsafeBufferPointer(start: data, count: stride * height))
    }

    /// Cairo's pixels are blue, green, red, and a byte that counts only where there is transparency.
    subscript(x: Int, y: Int) -> Color {
        let index = y * stride + x * 4
        return Color(red: bytes[index + 2], green: bytes[index + 1], blue: bytes[index])
    }

    /// The rows, from the top, with a pixel near the color in these columns.
    func rows(of color: Color, within columns: Range<Int>? = nil, tolerance: Int = 60) -> [Int] {
        let columns = (columns ?? 0..<width).clamped(to: 0..<width)
        return (0..<height).filter { y in columns.contains { self[$0, y].distance(to: color) <= tolerance } }
    }

    func columns(of color: Color, tolerance: Int = 60) -> [Int] {
        (0..<width).filter { x in (0..<height).contains { self[x, $0].distance(to: color) <= tolerance } }
    }
}
