import PushService

enum ChartError: String, StageError {
    /// The chart has no values.
    case nothingToDraw = "chart-empty"
    /// The system's graphics failed, usually for lack of memory.
    case notDrawn = "chart-not-drawn"

    var code: String { rawValue }
}
