#if canImport(CoreGraphics)
    import CoreGraphics
    import Foundation
    import ImageIO

    extension Pixels {
        /// Reads a PNG file with Image I/O.
        init(_ png: [UInt8]) throws {
            guard let source = CGImageSourceCreateWithData(Data(png) as CFData, nil),
                let image = CGImageSourceCreateImageAtIndex(source, 0, nil),
                let space = CGColorSpace(name: CGColorSpace.sRGB)
            else { throw Unreadable() }
            let stride = image.width * 4
            var bytes = [UInt8](repeating: 0, count: stride * image.height)
            let isDrawn = bytes.withUnsafeMutableBytes { buffer in
                guard
                    let context = CGContext(
                        data: buffer.baseAddress, width: image.width, height: image.height, bitsPerComponent: 8,
                        bytesPerRow: stride, space: space, bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
                else { return false }
                context.draw(image, in: CGRect(x: 0, y: 0, width: image.width, height: image.height))
                return true
            }
            guard isDrawn else { throw Unreadable() }
            self.init(width: image.width, height: image.height, stride: stride, bytes: bytes, red: 0)
        }
    }
#endif
