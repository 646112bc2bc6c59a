// Poly1305 (RFC 8439, 2.5), which node:crypto has only within ChaCha20-Poly1305. Each key is used once, so it needn't be
// constant-time. Takes about a microsecond per byte.

const number = (bytes) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)

/** Returns the 16 bytes for a message, under a key of 32 bytes that authenticates nothing else. */
export function poly1305(key, message) {
  const r = number(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn
  let sum = 0n
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16)
    sum = ((sum + number(block) + (1n << BigInt(8 * block.length))) * r) % (2n ** 130n - 5n)
  }
  const tag = (sum + number(key.subarray(16))) & (2n ** 128n - 1n)
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse()
}
