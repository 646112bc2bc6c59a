import Cpangocairo
import Foundation

@testable import device_simulator

/// Pixels that are read from a PNG file or made up.
struct Raster {
    let width: Int
    let height: Int
    /// The pixels as Cairo stores them: blue, green, red, and one more byte.
    private let bytes: [UInt8]
    private let stride: Int

    struct Unreadable: Error {}

    /// Creates stripes of equal width, from left to right, each given as red, green, and blue.
    init(width: Int, height: Int, stripes: [[UInt8]]) {
        self.width = width
        self.height = height
        stride = width * 4
        let row = (0..<width).flatMap { x in
            let color = stripes[x * stripes.count / width]
            return [color[2], color[1], color[0], 0]
        }
        bytes = Array((0..<height).map { _ in row }.joined())
    }

    init(png: Data) throws {
        guard let surface = PNGImage.surface(Array(png)) else { throw Raster.Unreadable() }
        defer { cairo_surface_destroy(surface) }
        try self.init(surface)
    }

    init(_ surface: OpaquePointer) throws {
        guard let data = cairo_image_surface_get_data(surface) else { throw Raster.Unreadable() }
        width = Int(cairo_image_surface_get_width(surface))
        height = Int(cairo_image_surface_get_height(surface))
        stride = Int(cairo_image_surface_get_stride(surface))
        bytes = Array(UnsafeBufferPointer(start: data, count: stride * height))
    }

    /// The red, green, and blue of a pixel.
    subscript(x: Int, y: Int) -> [UInt8] {
        let start = y * stride + x * 4
        return [bytes[start + 2], bytes[start + 1], bytes[start]]
    }

    var png: Data? {
        var bytes = bytes
        return bytes.withUnsafeMutableBufferPointer { bytes in
            let surface = cairo_image_surface_create_for_data(
                bytes.baseAddress, CAIRO_FORMAT_RGB24, Int32(width), Int32(height), Int32(stride))
            defer { cairo_surface_destroy(surface) }
            return surface.flatMap { PNGImage.file($0) }
        }
    }
}
