import CRawSodium
import Foundation

/// Checks and decrypts one stored file with only libsodium, in the same chunks, and prints the microseconds: the baseline
/// for an extension.
@main struct MediaBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: media-benchmark STORED ENTRY OUTPUT\n".utf8))
            exit(64)
        }
        struct Entry: Decodable {
            let key: String
            let hash: String
        }
        let entry = try JSONDecoder().decode(Entry.self, from: Data(contentsOf: URL(filePath: arguments[2])))
        let key = decode(entry.key)
        let stored = fopen(arguments[1], "r")!
        let start = ContinuousClock.now
        let output = fopen(arguments[3], "w")!

        let hash = UnsafeMutableRawPointer.allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        crypto_generichash_init(OpaquePointer(hash), nil, 0, 32)
        var stream = crypto_secretstream_xchacha20poly1305_state()
        var sealed = [UInt8](repeating: 0, count: 65_553)
        var plain = [UInt8](repeating: 0, count: 65_536)
        var header = [UInt8](repeating: 0, count: 24)
        precondition(fread(&header, 1, 24, stored) == 24)
        crypto_generichash_update(OpaquePointer(hash), header, 24)
        crypto_secretstream_xchacha20poly1305_init_pull(&stream, header, key)
        while true {
            let count = fread(&sealed, 1, sealed.count, stored)
            guard count > 0 else { break }
            crypto_generichash_update(OpaquePointer(hash), sealed, UInt64(count))
            var tag: UInt8 = 0
            let status = crypto_secretstream_xchacha20poly1305_pull(
                &stream, &plain, nil, &tag, sealed, UInt64(count), nil, 0)
            precondition(status == 0)
            fwrite(plain, 1, count - 17, output)
        }
        var digest = [UInt8](repeating: 0, count: 32)
        crypto_generichash_final(OpaquePointer(hash), &digest, 32)
        precondition(digest == decode(entry.hash))
        fclose(output)
        print(Int((ContinuousClock.now - start) / .microseconds(1)))
    }

    private static func decode(_ text: String) -> [UInt8] {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/") + "="
        return [UInt8](Data(base64Encoded: standard) ?? Data())
    }
}
