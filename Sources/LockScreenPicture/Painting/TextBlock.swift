internal import Cpangocairo

/// How text is set.
struct TextStyle {
    var size: Double
    var isBold = false
    var isCentered = false
    var ink: Ink
}

/// Text that is laid out and can be painted: broken into lines, cut with an ellipsis, each direction as it should be.
final class TextBlock {
    let height: Double
    /// Of the longest line; not of the room there was.
    let width: Double
    private let layout: OpaquePointer
    private let ink: Ink
    private let canvas: Canvas

    /// - Parameter text: `\n` begins a new line.
    init(_ text: String, _ style: TextStyle, width: Double, maximumLineCount: Int, on canvas: Canvas) {
        let layout: OpaquePointer = pango_cairo_create_layout(canvas.context)
        let font = pango_font_description_from_string(Self.families)
        defer { pango_font_description_free(font) }
        pango_font_description_set_absolute_size(font, style.size * Double(PANGO_SCALE))
        pango_font_description_set_weight(font, style.isBold ? PANGO_WEIGHT_SEMIBOLD : PANGO_WEIGHT_NORMAL)
        pango_layout_set_font_description(layout, font)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        // Below zero it counts the lines of a paragraph; so the whole text is one, with line separators in it.
        pango_layout_set_height(layout, Int32(-maximumLineCount))
        pango_layout_set_auto_dir(layout, 1)
        pango_layout_set_alignment(layout, style.isCentered ? PANGO_ALIGN_CENTER : PANGO_ALIGN_LEFT)
        let bytes = Array(text.replacing("\n", with: "\u{2028}").utf8)
        bytes.withUnsafeBytes { bytes in
            let characters = bytes.assumingMemoryBound(to: CChar.self)
            pango_layout_set_text(layout, characters.baseAddress, Int32(characters.count))
        }
        self.canvas = canvas
        self.layout = layout
        ink = style.ink
        var extents = PangoRectangle()
        pango_layout_get_extents(layout, nil, &extents)
        height = text.isEmpty ? 0 : Double(extents.height) / Double(PANGO_SCALE)
        self.width = Double(extents.width) / Double(PANGO_SCALE)
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    func paint(x: Double, y: Double) {
        cairo_set_source_rgba(canvas.context, ink.red, ink.green, ink.blue, ink.alpha)
        cairo_move_to(canvas.context, x, y)
        pango_cairo_show_layout(canvas.context, layout)
    }

    /// The first that is there.
    private static let families = "SF Pro Text,Inter,Helvetica Neue,Noto Sans,DejaVu Sans,sans-serif"
}
