#if canImport(CoreGraphics)
internal import CoreGraphics
internal import CoreText
internal import Foundation
internal import ImageIO

/// Draws PNG files with Core Graphics, Core Text, and Image I/O.
enum CoreGraphicsPicture {
    static func png(_ drawing: Drawing, scale: Int) throws -> [UInt8] {
        let (width, height) = (drawing.width * Double(scale), drawing.height * Double(scale))
        // No alpha: the picture covers its whole rectangle.
        guard let space = CGColorSpace(name: CGColorSpace.sRGB),
            let context = CGContext(
                data: nil, width: Int(width), height: Int(height), bitsPerComponent: 8, bytesPerRow: 0,
                space: space, bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
        else { throw ChartError.notDrawn }
        // Core Graphics counts from the bottom.
        context.translateBy(x: 0, y: height)
        context.scaleBy(x: Double(scale), y: -Double(scale))
        context.setFillColor(color(drawing.background, space))
        context.fill(CGRect(x: 0, y: 0, width: drawing.width, height: drawing.height))
        context.setLineJoin(.round)
        context.setLineCap(.round)
        for mark in drawing.marks {
            try Task.checkCancellation()
            draw(mark, in: context, space)
        }
        return try encode(context)
    }

    private static func draw(_ mark: Drawing.Mark, in context: CGContext, _ space: CGColorSpace) {
        switch mark {
        case .fill(let path, let color):
            context.setFillColor(self.color(color, space))
            context.addPath(outline(path))
            context.fillPath()
        case .gradient(let path, let stops): fill(path, stops, in: context, space)
        case .stroke(let path, let color, let width):
            context.setStrokeColor(self.color(color, space))
            context.setLineWidth(width)
            context.addPath(outline(path))
            context.strokePath()
        case .text(let label): write(label, in: context, space)
        }
    }

    private static func color(_ color: Drawing.Color, _ space: CGColorSpace) -> CGColor {
        let components = [color.red, color.green, color.blue, color.alpha].map { CGFloat($0) }
        return CGColor(colorSpace: space, components: components) ?? CGColor(gray: 0.5, alpha: components[3])
    }

    private static func outline(_ path: Path) -> CGPath {
        let outline = CGMutablePath()
        for element in path.elements {
            switch element {
            case .move(let point): outline.move(to: CGPoint(x: point.x, y: point.y))
            case .line(let point): outline.addLine(to: CGPoint(x: point.x, y: point.y))
            case .curve(let point, let control1, let control2):
                outline.addCurve(
                    to: CGPoint(x: point.x, y: point.y), control1: CGPoint(x: control1.x, y: control1.y),
                    control2: CGPoint(x: control2.x, y: control2.y))
            case .close: outline.closeSubpath()
            }
        }
        return outline
    }

    private static func fill(_ path: Path, _ stops: [Drawing.Stop], in context: CGContext, _ space: CGColorSpace) {
        guard let first = stops.first, let last = stops.last, last.y > first.y else { return }
        let colors = stops.map { color($0.color, space) } as CFArray
        let locations = stops.map { CGFloat(($0.y - first.y) / (last.y - first.y)) }
        guard let gradient = CGGradient(colorsSpace: space, colors: colors, locations: locations) else { return }
        context.saveGState()
        context.addPath(outline(path))
        context.clip()
        context.drawLinearGradient(
            gradient, start: CGPoint(x: 0, y: first.y), end: CGPoint(x: 0, y: last.y),
            options: [.drawsBeforeStartLocation, .drawsAfterEndLocation])
        context.restoreGState()
    }

    private static func write(_ label: Drawing.Label, in context: CGContext, _ space: CGColorSpace) {
        let font =
            CTFontCreateUIFontForLanguage(.system, Drawing.Label.size, nil)
            ?? CTFontCreateWithName("Helvetica" as CFString, Drawing.Label.size, nil)
        let attributes: [NSAttributedString.Key: Any] = [
            NSAttributedString.Key(kCTFontAttributeName as String): font,
            NSAttributedString.Key(kCTForegroundColorAttributeName as String): color(label.color, space),
        ]
        let line = CTLineCreateWithAttributedString(
            NSAttributedString(string: label.text, attributes: attributes) as CFAttributedString)
        let width = CTLineGetTypographicBounds(line, nil, nil, nil)
        // Turn the text upright again, because the picture is flipped.
        context.textMatrix = CGAffineTransform(scaleX: 1, y: -1)
        context.textPosition = CGPoint(x: label.left(width: width), y: label.baseline)
        CTLineDraw(line, context)
    }

    private static func encode(_ context: CGContext) throws -> [UInt8] {
        guard let image = context.makeImage(), let data = CFDataCreateMutable(nil, 0),
            let destination = CGImageDestinationCreateWithData(data, "public.png" as CFString, 1, nil)
        else { throw ChartError.notDrawn }
        CGImageDestinationAddImage(destination, image, nil)
        guard CGImageDestinationFinalize(destination) else { throw ChartError.notDrawn }
        return [UInt8](data as Data)
    }
}
#endif
