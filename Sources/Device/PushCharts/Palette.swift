import SealedPush

/// The colors of one chart: the system's own in light and dark, unless the app or the sender chooses others.
struct Palette {
    let background: Drawing.Color
    let grid: Drawing.Color
    /// The line at zero.
    let base: Drawing.Color
    let text: Drawing.Color
    let ink: Drawing.Color

    init(_ chart: PushChart, _ values: [Double], style: ChartStyle) {
        let isDark = style.appearance == .dark
        background = Drawing.Color(isDark ? 0x1c1c1e : 0xffffff)
        grid = Drawing.Color(isDark ? 0x323236 : 0xe8e8ed)
        base = Drawing.Color(isDark ? 0x6e6e73 : 0xa8a8ad)
        text = Drawing.Color(isDark ? 0x98989f : 0x76767b)
        let accent = style.accent.map(Drawing.Color.init) ?? Drawing.Color(isDark ? 0x0a84ff : 0x007aff)
        switch chart.color {
        case .accent: ink = accent
        case .rgb(let rgb): ink = Drawing.Color(rgb)
        case .trend:
            let (first, last) = (values.first ?? 0, values.last ?? 0)
            if last > first {
                ink = style.rising.map(Drawing.Color.init) ?? Drawing.Color(isDark ? 0x30d158 : 0x28a745)
            } else if last < first {
                ink = style.falling.map(Drawing.Color.init) ?? Drawing.Color(isDark ? 0xff453a : 0xff3b30)
            } else {
                ink = accent
            }
        }
    }
}
