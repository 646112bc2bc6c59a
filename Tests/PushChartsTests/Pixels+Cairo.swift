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
