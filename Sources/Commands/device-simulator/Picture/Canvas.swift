internal import Cpangocairo
internal import Foundation

/// A surface to paint on, measured in points of two pixels each.
final class Canvas {
    fileprivate let context: OpaquePointer
    private let surface: OpaquePointer

    init(width: Double, height: Double) throws(LockScreenPictureError) {
        guard let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width * 2), Int32(height * 2)) else {
            throw .notDrawn
        }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let context = cairo_create(surface) else {
            cairo_surface_destroy(surface)
            throw .notDrawn
        }
        self.surface = surface
        self.context = context
        cairo_scale(context, 2, 2)
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
    }

    func png() throws(LockScreenPictureError) -> Data {
        guard cairo_status(context) == CAIRO_STATUS_SUCCESS, let file = PNGImage.file(surface) else { throw .notDrawn }
        return file
    }

    /// Sets the path for the next fill.
    func rectangle(x: Double, y: Double, width: Double, height: Double, radius: Double = 0) {
        cairo_new_path(context)
        let quarter = Double.pi / 2
        cairo_arc(context, x + width - radius, y + radius, radius, -quarter, 0)
        cairo_arc(context, x + width - radius, y + height - radius, radius, 0, quarter)
        cairo_arc(context, x + radius, y + height - radius, radius, quarter, 2 * quarter)
        cairo_arc(context, x + radius, y + radius, radius, 2 * quarter, 3 * quarter)
        cairo_close_path(context)
    }

    func fill(_ ink: Ink) {
        cairo_set_source_rgba(context, ink.red, ink.green, ink.blue, ink.alpha)
        cairo_fill(context)
    }

    /// Fills the path with a linear gradient from one point to another.
    func fill(_ inks: [Ink], from start: (x: Double, y: Double), to end: (x: Double, y: Double)) {
        let gradient = cairo_pattern_create_linear(start.x, start.y, end.x, end.y)
        defer { cairo_pattern_destroy(gradient) }
        for (index, ink) in inks.enumerated() {
            let place = Double(index) / Double(max(1, inks.count - 1))
            cairo_pattern_add_color_stop_rgba(gradient, place, ink.red, ink.green, ink.blue, ink.alpha)
        }
        cairo_set_source(context, gradient)
        cairo_fill(context)
    }

    /// Fills the path with a picture whose top-left corner is at this point.
    func fill(_ thumbnail: Thumbnail, x: Double, y: Double, side: Double) {
        cairo_save(context)
        cairo_clip(context)
        cairo_translate(context, x, y)
        cairo_scale(context, side / Double(Thumbnail.side), side / Double(Thumbnail.side))
        cairo_set_source_surface(context, thumbnail.surface, 0, 0)
        cairo_paint(context)
        cairo_restore(context)
    }

    func text(_ text: String, _ style: TextStyle, width: Double, maximumLineCount: Int = 1) -> TextBlock {
        TextBlock(text, style, width: width, maximumLineCount: maximumLineCount, on: self)
    }

    /// Paints a few white letters in the middle of a square.
    func sign(_ text: String, size: Double, x: Double, y: Double, side: Double) {
        let style = TextStyle(size: size, isBold: true, isCentered: true, ink: Ink(0xffffff))
        let block = self.text(text, style, width: side)
        block.paint(x: x, y: y + (side - block.height) / 2)
    }
}

/// A color, in sRGB, each part from 0 to 1.
struct Ink {
    let red: Double
    let green: Double
    let blue: Double
    let alpha: Double

    /// Creates a color from 0xRRGGBB.
    init(_ rgb: UInt32, alpha: Double = 1) {
        red = Double(rgb >> 16 & 0xff) / 255
        green = Double(rgb >> 8 & 0xff) / 255
        blue = Double(rgb & 0xff) / 255
        self.alpha = alpha
    }
}

/// The size, weight, alignment, and color of text.
struct TextStyle {
    var size: Double
    var isBold = false
    var isCentered = false
    var ink: Ink
}

/// Text that is laid out for painting: broken into lines, truncated with an ellipsis, in the right writing direction.
final class TextBlock {
    /// The text's height; 0 for empty text.
    let height: Double
    /// The width of the longest line, not of the available space.
    let width: Double
    private let layout: OpaquePointer
    private let ink: Ink
    private let canvas: Canvas

    /// - Parameter text: the text, with `\n` between lines.
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
        // A negative height limits the lines of each paragraph, so the whole text is one paragraph with line separators.
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

    /// The fonts in order of preference; the first one installed is used.
    private static let families = "SF Pro Text,Inter,Helvetica Neue,Noto Sans,DejaVu Sans,sans-serif"
}
