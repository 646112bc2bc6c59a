internal import Foundation
internal import PushCore
public import PushService
internal import SealedPush

/// Draws the content's chart, and puts the picture first among the attachments.
///
/// A chart is drawn only if the app's configuration includes this stage. A notification without a chart, or with one that
/// this version can't read, passes unchanged; if drawing fails, its text is still shown. Draws one chart at a time per
/// process; at 3x, takes about 20 milliseconds, and 4 MB that are freed before slow stages. Source: ContentParts 15.
public struct ChartStage: ServiceStage {
    private var style: ChartStyle

    /// Creates a stage that draws in this style.
    public init(style: ChartStyle = ChartStyle()) {
        self.style = style
        #if canImport(Darwin)
        // On Linux, this would load a megabyte of locale data.
        self.style.decimalSeparator = Locale.current.decimalSeparator ?? "."
        #endif
    }

    /// Quick: it needs no network, and frees its memory before the slow stages begin.
    public var pace: StagePace { .quick }

    /// Returns the draft with a picture of its chart.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard let chart = draft.opened.content.chart, draft.shownLevel == .full else { return draft }
        let file = try context.scratchFile(named: "chart.png")
        let thumbnail = try await context.budget.largeWork.run {
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

    /// The attachment's identifier, by which the app and its content extension find the picture.
    public static let identifier = "chart"

    /// Before all others, because the first attachment is visible at once.
    private static let position = -1
}

struct ChartPicture {
    let png: [UInt8]
    /// The part of the picture that is most informative at a small size.
    let thumbnail: AttachmentThumbnail.Clip

    /// Draws on the calling thread: about ten milliseconds at 3x, and four bytes of memory per pixel. Throws
    /// ``ChartError``, or `CancellationError` soon after the task is canceled.
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
