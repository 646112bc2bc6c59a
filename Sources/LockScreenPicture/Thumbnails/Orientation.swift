internal import Cpangocairo

/// How a photo must be turned to be upright: the tag 0x0112 of EXIF, 1 to 8. Source: EXIF 2.3, 4.6.4; TIFF 6.0, section 2.
struct Orientation {
    private let tag: Int

    /// 1, which is upright, where the file does not say, or says it in a way that can't be read.
    init(ofJPEG file: [UInt8]) { tag = Self.tag(in: file) ?? 1 }

    /// The image upright, in place of `image`.
    func upright(_ image: OpaquePointer) -> OpaquePointer? {
        guard (2...8).contains(tag) else { return image }
        defer { cairo_surface_destroy(image) }
        let (width, height) = (
            Double(cairo_image_surface_get_width(image)), Double(cairo_image_surface_get_height(image))
        )
        let isTurned = tag > 4
        guard
            let surface = cairo_image_surface_create(
                CAIRO_FORMAT_RGB24, Int32(isTurned ? height : width), Int32(isTurned ? width : height)),
            let context = cairo_create(surface)
        else { return nil }
        defer { cairo_destroy(context) }
        var matrix = matrix(width: width, height: height)
        cairo_set_matrix(context, &matrix)
        cairo_set_source_surface(context, image, 0, 0)
        cairo_paint(context)
        return surface
    }

    /// Where a point of the image lies when it is upright.
    private func matrix(width: Double, height: Double) -> cairo_matrix_t {
        switch tag {
        case 2: cairo_matrix_t(xx: -1, yx: 0, xy: 0, yy: 1, x0: width, y0: 0)
        case 3: cairo_matrix_t(xx: -1, yx: 0, xy: 0, yy: -1, x0: width, y0: height)
        case 4: cairo_matrix_t(xx: 1, yx: 0, xy: 0, yy: -1, x0: 0, y0: height)
        case 5: cairo_matrix_t(xx: 0, yx: 1, xy: 1, yy: 0, x0: 0, y0: 0)
        case 6: cairo_matrix_t(xx: 0, yx: 1, xy: -1, yy: 0, x0: height, y0: 0)
        case 7: cairo_matrix_t(xx: 0, yx: -1, xy: -1, yy: 0, x0: height, y0: width)
        default: cairo_matrix_t(xx: 0, yx: -1, xy: 1, yy: 0, x0: 0, y0: width)
        }
    }

    private static func tag(in file: [UInt8]) -> Int? {
        // The segments before the image, each with its length; EXIF is in one of the first.
        var start = 2
        for _ in 0..<16 {
            guard start + 4 <= file.count, file[start] == 0xff, file[start + 1] != 0xda else { return nil }
            let length = Int(file[start + 2]) << 8 | Int(file[start + 3])
            guard length >= 2, start + 2 + length <= file.count else { return nil }
            let content = file[(start + 4)..<(start + 2 + length)]
            if file[start + 1] == 0xe1, content.starts(with: Array("Exif\0\0".utf8)) {
                return tag(inTIFF: Array(content.dropFirst(6)))
            }
            start += 2 + length
        }
        return nil
    }

    private static func tag(inTIFF bytes: [UInt8]) -> Int? {
        guard bytes.count >= 8, bytes[0] == bytes[1], [0x49, 0x4d].contains(bytes[0]) else { return nil }
        let isBigEndian = bytes[0] == 0x4d
        func number(_ start: Int, _ count: Int) -> Int? {
            guard start >= 0, start + count <= bytes.count else { return nil }
            let digits = bytes[start..<start + count]
            return (isBigEndian ? Array(digits) : digits.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), let entryCount = number(directory, 2) else { return nil }
        for index in 0..<min(entryCount, 512) {
            let entry = directory + 2 + index * 12
            guard let name = number(entry, 2) else { return nil }
            // One short number, which lies in the entry itself.
            if name == 0x0112 { return number(entry + 2, 2) == 3 ? number(entry + 8, 2) : nil }
        }
        return nil
    }
}
