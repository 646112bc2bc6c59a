internal import Cpangocairo
internal import Cturbojpeg

/// JPEG files, read by libjpeg-turbo, which makes them smaller while it decodes.
enum JPEGImage {
    /// An image whose shorter edge still has `side` pixels, where the file's has; nil for anything but a JPEG file of a
    /// size that is read. A file that is cut off gives what there is of it.
    static func surface(_ bytes: [UInt8], side: Int) -> OpaquePointer? {
        guard bytes.starts(with: [0xff, 0xd8, 0xff]), let decoder = tjInitDecompress() else { return nil }
        defer { tjDestroy(decoder) }
        var (width, height, subsampling, space) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let isRead = bytes.withUnsafeBufferPointer { file in
            tjDecompressHeader3(
                decoder, file.baseAddress, UInt(file.count), &width, &height, &subsampling, &space) == 0
        }
        guard isRead, width > 0, height > 0, Int(width) * Int(height) <= Thumbnail.maximumPixelCount else {
            return nil
        }
        // Clips take a part of the image, so it stays four times as large as a whole one would have to be.
        let part = [8, 4, 2, 1].first { Int(min(width, height)) / $0 >= side * 4 } ?? 1
        let (smallWidth, smallHeight) = ((Int(width) + part - 1) / part, (Int(height) + part - 1) / part)
        guard let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(smallWidth), Int32(smallHeight)),
            let pixels = cairo_image_surface_get_data(surface)
        else { return nil }
        cairo_surface_flush(surface)
        let result = bytes.withUnsafeBufferPointer { file in
            tjDecompress2(
                decoder, file.baseAddress, UInt(file.count), pixels, Int32(smallWidth),
                cairo_image_surface_get_stride(surface), Int32(smallHeight), Int32(TJPF_BGRX.rawValue),
                TJFLAG_LIMITSCANS)
        }
        // A warning, such as for a file that is cut off, leaves an image that a phone would show as well.
        guard result == 0 || tjGetErrorCode(decoder) == Int32(TJERR_WARNING.rawValue) else {
            cairo_surface_destroy(surface)
            return nil
        }
        cairo_surface_mark_dirty(surface)
        return surface
    }
}
