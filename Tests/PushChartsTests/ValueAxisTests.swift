import Testing

@testable import PushCharts

@Suite("The axis of values") struct ValueAxisTests {
    private func texts(_ values: [Double], includesZero: Bool = false) -> [String] {
        let axis = ValueAxis(values, includesZero: includesZero, isTight: false)
        return axis.ticks.map { axis.text(of: $0, decimalSeparator: ".") }
    }

    @Test("The numbers are round, include the values, and are as short as possible") func numbers() {
        #expect(texts([0, 10]) == ["0", "2.5", "5.0", "7.5", "10.0"])
        #expect(texts([-7, 17]) == ["−10", "0", "10", "20"])
        #expect(texts([182, 193.5]) == ["180", "185", "190", "195"])
        #expect(texts([4_310, 11_250], includesZero: true) == ["0", "5k", "10k", "15k"])
        #expect(texts([1_200_000, 1_900_000]) == ["1.2M", "1.4M", "1.6M", "1.8M", "2.0M"])
        #expect(texts([0.0012, 0.0034]) == ["0.001", "0.002", "0.003", "0.004"])
        #expect(texts([3e20, 5e20]) == ["3.0e20", "3.5e20", "4.0e20", "4.5e20", "5.0e20"])
        #expect(texts([2e-9, 6e-9]) == ["2e-9", "3e-9", "4e-9", "5e-9", "6e-9"])
    }

    @Test("No two numbers on an axis are equal, however close the values are") func distinct() {
        for (low, reach) in [(1.0, 1e-8), (1e9, 10), (1e14, 1e6), (1e20, 1e12), (-5e-9, 1e-12), (123_456, 0.01)] {
            let texts = texts([low, low + reach])
            #expect(Set(texts).count == texts.count, "\(texts)")
            #expect(texts.count >= 3, "\(texts)")
        }
    }

    @Test("Decimals are written as in the user's region") func separator() {
        let axis = ValueAxis([0, 1], includesZero: true, isTight: false)
        #expect(axis.ticks.map { axis.text(of: $0, decimalSeparator: ",") } == ["0", "0,25", "0,50", "0,75", "1,00"])
    }

    @Test("The axis includes every value, even the largest and smallest numbers") func extremes() {
        for values in [
            [1.7e308, -1.7e308], [Double.leastNonzeroMagnitude],
            [Double.leastNonzeroMagnitude, -Double.leastNonzeroMagnitude], [0], [1e300, 1], [1e-90, 2e-90],
        ] {
            for isTight in [true, false] {
                let axis = ValueAxis(values, includesZero: false, isTight: isTight)
                #expect(axis.lower < axis.upper)
                #expect(axis.upper.isFinite && axis.lower.isFinite)
                #expect(axis.ticks.count <= 7)
                for value in values { #expect((0...1).contains(axis.height(of: value))) }
            }
        }
    }
}
