internal import Foundation
public import PushService
internal import SealedPush

/// Draws the content's chart, and puts the picture first among the attachments.
///
/// Nothing is drawn unless an app has this in its configuration's stages. A notification without a chart, or with one
/// that this version can't read, passes unchanged; where drawing fails, its text stands. Takes about 20 milliseconds
/// and 4 MB of memory at 3x, one chart at a time in a process, given back before any slow stage begins. Source:
/// Specification 15.
public struct ChartStage: ServiceStage {
    private var style: ChartStyle

    public init(style: ChartStyle = ChartStyle()) {
        self.style = style
        #if canImport(Darwin)
            // On Linux that would load a megabyte of the world's locales.
            self.style.decimalSeparator = Locale.current.decimalSeparator ?? "."
        #endif
    }

    /// No network, and memory that the slow ones need.
    public var pace: StagePace { .quick }

    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard let chart = draft.opened.content.chart else { return draft }
        let file = try context.scratchFile(named: "chart.png")
        let thumbnail = try await context.budget.largeWork.take {
            let picture = try ChartPicture(chart, style: style)
            try Data(picture.png).write(to: file)
            return picture.thumbnail
        }
        var draft = draft
        draft.attachments.append(
            DraftAttachment(
                identifier: Self.identifier, file: file, type: "public.png",
                thumbnail: AttachmentThumbnail(clip: thumbnail), position: Self.position))
        return draft
    }

    /// The attachment's, by which the app and its content extension find the picture.
    public static let identifier = "chart"

    /// Before all others: the first attachment is the one that is seen at once.
    private static let position = -1
}

struct ChartPicture {
    let png: [UInt8]
    /// The part of it that says most when it is small.
    let thumbnail: AttachmentThumbnail.Clip

    /// Draws on the calling thread: about ten milliseconds at 3x, and four bytes of memory a pixel.
    ///
    /// - Throws: ``ChartError``, or `CancellationError` soon after the task was cancelled.
    init(_ chart: PushChart, style: ChartStyle) throws {
        guard let chart = ChartDrawing(chart, style: style) else { throw ChartError.nothingToDraw }
        thumbnail = chart.thumbnail
        #if canImport(CoreGraphics)
            png = try CoreGraphicsPicture.png(chart.drawing, scale: style.scale.rawValue)
        #else
            png = try CairoPicture.png(chart.drawing, scale: style.scale.rawValue)
        #endif
    }
}

enum ChartError: String, StageError {
    /// The chart has no value.
    case nothingToDraw = "chart-empty"
    /// The system's graphics gave up, mostly for want of memory.
    case notDrawn = "chart-not-drawn"

    var code: String { rawValue }
}
