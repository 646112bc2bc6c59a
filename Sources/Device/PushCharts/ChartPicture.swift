internal import PushService
internal import SealedPush

/// A chart as a picture.
struct ChartPicture {
    /// A PNG file.
    let png: [UInt8]
    /// The part of it that says most when it is small.
    let thumbnail: AttachmentThumbnail.Clip

    /// Draws on the calling thread: about ten milliseconds at 3x, and four bytes of memory a pixel.
    ///
    /// - Throws: ``ChartError``, or `CancellationError` soon after the task was cancelled.
    init(_ chart: PushChart, style: ChartStyle, decimalSeparator: String = ".") throws {
        guard let chart = ChartDrawing(chart, style: style, decimalSeparator: decimalSeparator) else {
            throw ChartError.nothingToDraw
        }
        thumbnail = chart.thumbnail
        #if canImport(CoreGraphics)
            png = try CoreGraphicsPicture.png(chart.drawing, scale: style.scale.rawValue)
        #else
            png = try CairoPicture.png(chart.drawing, scale: style.scale.rawValue)
        #endif
    }
}

/// Why there is no picture.
enum ChartError: String, StageError {
    /// The chart has no value.
    case nothingToDraw = "chart-empty"
    /// The system's graphics gave up, mostly for want of memory.
    case notDrawn = "chart-not-drawn"

    var code: String { rawValue }
}
