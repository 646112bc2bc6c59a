// error: requires that 'SenderPrivateKey' (aka 'PrivateKey<SenderRole>') conform to 'Encodable'
import Foundation
import SealedPush

/// A secret leaves its memory by one function only.
func save(_ secret: SenderPrivateKey) throws -> Data {
    _ = try JSONEncoder().encode(secret)  // refused
    return Data()
}
