import Cpangocairo
import Cturbojpeg
import Foundation

@testable import LockScreenPicture

/// Pixels, read from a PNG file or made up.
struct Raster {
    let width: Int
    let height: Int
    /// Red, green, blue for each.
    private(set) var pixels: [UInt8]

    struct Unreadable: Error {}

    /// Stripes of equal width, from the left.
    init(width: Int, height: Int, stripes: [[UInt8]]) {
        self.width = width
        self.height = height
        let row = (0..<width).flatMap { stripes[$0 * stripes.count / width] }
        pixels = Array((0..<height).map { _ in row }.joined())
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
        let stride = Int(cairo_image_surface_get_stride(surface))
        pixels = []
        pixels.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let start = y * stride + x * 4
                pixels.append(data[start + 2])
                pixels.append(data[start + 1])
                pixels.append(data[start])
            }
        }
    }

    subscript(x: Int, y: Int) -> [UInt8] { Array(pixels[(y * width + x) * 3..<(y * width + x) * 3 + 3]) }

    var png: Data? {
        guard let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width), Int32(height)),
            let data = cairo_image_surface_get_data(surface)
        else { return nil }
        defer { cairo_surface_destroy(surface) }
        let stride = Int(cairo_image_surface_get_stride(surface))
        for y in 0..<height {
            for x in 0..<width {
                let color = self[x, y]
                for part in 0..<3 { data[y * stride + x * 4 + part] = color[2 - part] }
            }
        }
        cairo_surface_mark_dirty(surface)
        return PNGImage.file(surface)
    }

    var jpeg: Data? {
        guard let encoder = tjInitCompress() else { return nil }
        defer { tjDestroy(encoder) }
        var file: UnsafeMutablePointer<UInt8>?
        var count = UInt(0)
        let result = pixels.withUnsafeBufferPointer {
            tjCompress2(
                encoder, $0.baseAddress, Int32(width), 0, Int32(height), Int32(TJPF_RGB.rawValue), &file, &count,
                Int32(TJSAMP_420.rawValue), 85, TJFLAG_PROGRESSIVE)
        }
        defer { tjFree(file) }
        return result == 0 ? file.map { Data(bytes: $0, count: Int(count)) } : nil
    }
}
