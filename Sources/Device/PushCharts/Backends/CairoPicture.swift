#if !canImport(CoreGraphics)
internal import Ccairo

enum CairoPicture {
    static func png(_ drawing: Drawing, scale: Int) throws -> [UInt8] {
        let (width, height) = (drawing.width * Double(scale), drawing.height * Double(scale))
        let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width), Int32(height))
        defer { cairo_surface_destroy(surface) }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let context = cairo_create(surface) else {
            throw ChartError.notDrawn
        }
        defer { cairo_destroy(context) }
        cairo_scale(context, Double(scale), Double(scale))
        set(drawing.background, in: context)
        cairo_paint(context)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        for mark in drawing.marks {
            try Task.checkCancellation()
            draw(mark, in: context)
        }
        guard cairo_status(context) == CAIRO_STATUS_SUCCESS else { throw ChartError.notDrawn }
        return try encode(surface)
    }

    private static func draw(_ mark: Drawing.Mark, in context: OpaquePointer) {
        switch mark {
        case .fill(let path, let color):
            set(color, in: context)
            add(path, to: context)
            cairo_fill(context)
        case .gradient(let path, let stops): fill(path, stops, in: context)
        case .stroke(let path, let color, let width):
            set(color, in: context)
            add(path, to: context)
            cairo_set_line_width(context, width)
            cairo_stroke(context)
        case .text(let label): write(label, in: context)
        }
    }

    private static func set(_ color: Drawing.Color, in context: OpaquePointer) {
        cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
    }

    private static func add(_ path: Path, to context: OpaquePointer) {
        cairo_new_path(context)
        for element in path.elements {
            switch element {
            case .move(let point): cairo_move_to(context, point.x, point.y)
            case .line(let point): cairo_line_to(context, point.x, point.y)
            case .curve(let point, let control1, let control2):
                cairo_curve_to(context, control1.x, control1.y, control2.x, control2.y, point.x, point.y)
            case .close: cairo_close_path(context)
            }
        }
    }

    private static func fill(_ path: Path, _ stops: [Drawing.Stop], in context: OpaquePointer) {
        guard let first = stops.first, let last = stops.last, last.y > first.y else { return }
        let gradient = cairo_pattern_create_linear(0, first.y, 0, last.y)
        defer { cairo_pattern_destroy(gradient) }
        for stop in stops {
            let color = stop.color
            cairo_pattern_add_color_stop_rgba(
                gradient, (stop.y - first.y) / (last.y - first.y), color.red, color.green, color.blue, color.alpha)
        }
        cairo_set_source(context, gradient)
        add(path, to: context)
        cairo_fill(context)
    }

    private static func write(_ label: Drawing.Label, in context: OpaquePointer) {
        // Named, so that a chart looks the same on all machines; if it's missing, Cairo substitutes a font.
        cairo_select_font_face(context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL)
        cairo_set_font_size(context, Drawing.Label.size)
        var extents = cairo_text_extents_t()
        cairo_text_extents(context, label.text, &extents)
        set(label.color, in: context)
        cairo_move_to(context, label.left(width: extents.x_advance), label.baseline)
        cairo_show_text(context, label.text)
    }

    private static func encode(_ surface: OpaquePointer?) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let status = withUnsafeMutablePointer(to: &bytes) { bytes in
            cairo_surface_write_to_png_stream(
                surface,
                { closure, data, count in
                    guard let bytes = closure?.assumingMemoryBound(to: [UInt8].self), let data else {
                        return CAIRO_STATUS_WRITE_ERROR
                    }
                    bytes.pointee.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                    return CAIRO_STATUS_SUCCESS
                }, bytes)
        }
        guard status == CAIRO_STATUS_SUCCESS else { throw ChartError.notDrawn }
        return bytes
    }
}
#endif
