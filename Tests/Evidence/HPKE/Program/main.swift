import Foundation

// Seals and opens with HPKE, for Scripts/special/bench-hpke. Tests/Evidence/HPKE/compare.py describes the lines that it reads
// and writes.
// Usage: hpke-benchmark sealed-push auth
//        hpke-benchmark swift-crypto auth|base
let arguments = CommandLine.arguments.dropFirst().joined(separator: " ")
guard let keys = readLine().flatMap(Keys.init) else { exit(64) }
switch arguments {
case "sealed-push auth": try answer(with: SealedPushHPKE(keys))
case "swift-crypto auth": try answer(with: SwiftCryptoHPKE(keys, isAuthenticated: true))
case "swift-crypto base": try answer(with: SwiftCryptoHPKE(keys, isAuthenticated: false))
default: exit(64)
}
