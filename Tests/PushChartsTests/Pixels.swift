/// A PNG file's pixels.
struct Pixels {
    let width: Int
    let height: Int
    private let bytes: [UInt8]
    private let stride: Int
    /// Where it lies in a pixel: first, or last of three.
    private let red: Int

    struct Color: Hashable {
        let red: UInt8
        let green: UInt8
        let blue: UInt8

        /// The greatest difference of the three.
        func distance(to other: Color) -> Int {
            max(
                abs(Int(red) - Int(other.red)), abs(Int(green) - Int(other.green)), abs(Int(blue) - Int(other.blue)))
        }
    }

    struct Unreadable: Error {}

    init(width: Int, height: Int, stride: Int, bytes: [UInt8], red: Int) {
        (self.width, self.height, self.stride, self.bytes, self.red) = (width, height, stride, bytes, red)
    }

    /// A pixel is red, green and blue, or blue, green and red, and a byte that counts only where there is transparency.
    subscript(x: Int, y: Int) -> Color {
        let index = y * stride + x * 4
        return Color(red: bytes[index + red], green: bytes[index + 1], blue: bytes[index + 2 - red])
    }

    /// The rows, from the top, with a pixel near the color in these columns.
    func rows(of color: Color, within columns: Range<Int>? = nil, tolerance: Int = 60) -> [Int] {
        let columns = (columns ?? 0..<width).clamped(to: 0..<width)
        return (0..<height).filter { y in columns.contains { self[$0, y].distance(to: color) <= tolerance } }
    }

    func columns(of color: Color, tolerance: Int = 60) -> [Int] {
        (0..<width).filter { x in (0..<height).contains { self[x, $0].distance(to: color) <= tolerance } }
    }
}
