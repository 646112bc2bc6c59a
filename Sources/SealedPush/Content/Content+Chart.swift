extension Content {
    /// A chart for the device to draw; nil also where there is one that this version can't read.
    ///
    /// Setting one that breaks a limit of ``Chart`` makes sealing throw ``ContentError/invalid(_:)``. Costs time in
    /// proportion to the points at each access.
    public var chart: Chart? {
        get { reserved[Self.chartKey].flatMap(Chart.init) }
        set { reserved[Self.chartKey] = newValue?.json }
    }

    /// A reader is lenient: a chart that can't be read costs only itself. A sender is not.
    func checkChartForSealing() throws(ContentError) {
        if let value = reserved[Self.chartKey], chart == nil { throw ContentDiagnosis.chart(value) }
    }

    private static let chartKey = "chart"
}
