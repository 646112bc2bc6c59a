import Cpangocairo
import Foundation
import TestSupport
import Testing

@testable import PushSimulator
@testable import device_simulator

@Suite("A thumbnail") struct ThumbnailTests {
    private let folder: TemporaryFolder
    private static let red: [UInt8] = [250, 10, 10]
    private static let blue: [UInt8] = [10, 10, 250]

    init() throws { folder = try TemporaryFolder() }

    private func thumbnail(_ file: Data) throws -> Raster? {
        let url = folder.appending(UUID().uuidString)
        try file.write(to: url)
        return try Thumbnail(of: Pushes.attachment(url)).map { try Raster($0.surface) }
    }

    private func isNear(_ color: [UInt8], _ other: [UInt8]) -> Bool {
        zip(color, other).allSatisfy { abs(Int($0) - Int($1)) < 40 }
    }

    @Test("a thumbnail is the middle square of a picture, enlarged if that's tiny") func square() throws {
        // Red, blue, and red, and wider than high.
        let picture = Raster(width: 800, height: 200, stripes: [Self.red, Self.blue, Self.blue, Self.red])
        let file = try #require(picture.png)
        let middle = try #require(try thumbnail(file))
        #expect((middle.width, middle.height) == (132, 132))
        for x in [4, 66, 127] { #expect(isNear(middle[x, 66], Self.blue)) }
        let tiny = try #require(Raster(width: 1, height: 1, stripes: [Self.red]).png)
        #expect(isNear(try #require(try thumbnail(tiny))[66, 66], Self.red))
    }

    @Test("a thumbnail uses only the picture's own chunks, because others may unpack to gigabytes")
    func otherChunks() throws {
        let plain = try #require(Raster(width: 40, height: 40, stripes: [Self.red]).png)
        let header = plain.prefix(33)
        for type in ["zTXt", "iTXt", "iCCP", "eXIf", "sPLT", "juNk"] {
            let chunk = chunk(type, [UInt8](repeating: 0x78, count: 10_000))
            let file = header + chunk + plain.dropFirst(33)
            #expect(PNGImage.needed(of: Array(file)) == PNGImage.needed(of: Array(plain)), "\(type)")
            #expect(isNear(try #require(try thumbnail(file))[66, 66], Self.red), "\(type)")
        }
        let needed = try #require(PNGImage.needed(of: Array(plain)))
        #expect(needed.starts(with: header))
        #expect(Data(needed).suffix(12) == plain.suffix(12))
        // A chunk that claims to be longer than the file.
        let long = header + Data([0x7f, 0xff, 0xff, 0xff]) + Data("zTXt".utf8) + plain.dropFirst(33)
        #expect(PNGImage.needed(of: Array(long)) == nil)
        #expect(try thumbnail(long) == nil)
    }

    /// Returns a chunk with an invalid checksum, which is never reached.
    private func chunk(_ type: String, _ bytes: [UInt8]) -> Data {
        let length = withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) }
        return Data(length + Array(type.utf8) + bytes + [0, 0, 0, 0])
    }

    @Test("there is no thumbnail for a file that is missing, empty, not a picture, or of a huge declared size")
    func none() throws {
        #expect(Thumbnail(of: Pushes.attachment(folder.appending("missing"))) == nil)
        #expect(try thumbnail(Data()) == nil)
        #expect(try thumbnail(Data("GIF89a and more".utf8)) == nil)
        // Valid, but one row too large; decoded, it would take 100 MB.
        let huge = try #require(cairo_image_surface_create(CAIRO_FORMAT_A1, 25_000, 1_001))
        defer { cairo_surface_destroy(huge) }
        #expect(try thumbnail(try #require(PNGImage.file(huge))) == nil)
    }

    @Test("a damaged picture never traps, whether it's cut anywhere or has any byte changed") func damaged() throws {
        var random = SeededGenerator()
        let picture = Raster(width: 64, height: 48, stripes: (0..<64).map { _ in random.bytes(3) })
        let file = try #require(picture.png)
        for _ in 0..<Thoroughness.count(30, thorough: 120) {
            _ = try thumbnail(file.prefix(Int.random(in: 0..<file.count, using: &random)))
            var changed = file
            for _ in 0..<3 {
                changed[Int.random(in: 8..<200, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try thumbnail(changed)
        }
    }
}
