// Opens libsodium's sealed boxes: X25519 and XSalsa20-Poly1305, which node:crypto lacks (Specification 3.6). For tests only: it is
// slow, and not constant-time.

import { timingSafeEqual } from 'node:crypto'
import { blake2b } from './blake2b.js'
import { agreed, publicBytes, publicKey } from './hpke.js'
import { poly1305 } from './poly1305.js'

/** Opens a sealed box with a private key, or returns null. */
export function openSealedBox(secret, box) {
  const ephemeral = box.subarray(0, 32)
  const nonce = blake2b(24, Buffer.concat([ephemeral, publicBytes(secret)]))
  const shared = agreed([secret, publicKey(ephemeral)])
  const key = hsalsa20(hsalsa20(shared, Buffer.alloc(16)), nonce.subarray(0, 16))
  const [tag, ciphertext] = [box.subarray(32, 48), box.subarray(48)]
  const stream = salsa20(key, nonce.subarray(16), 32 + ciphertext.length)
  if (!timingSafeEqual(poly1305(stream.subarray(0, 32), ciphertext), tag)) return null
  return Buffer.from(ciphertext.map((byte, index) => byte ^ stream[32 + index]))
}

const QUARTERS = [
  [0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11], [0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14],
]

/** The state of Salsa20 for a key and 16 bytes of nonce and counter, and the state after 20 rounds. */
function rounds(key, input) {
  const words = (buffer) => Array.from({ length: buffer.length / 4 }, (_, index) => buffer.readUInt32LE(4 * index))
  const [[a, b, c, d], k, i] = [words(Buffer.from('expand 32-byte k')), words(key), words(input)]
  const before = Uint32Array.of(a, ...k.slice(0, 4), b, ...i, c, ...k.slice(4), d)
  const x = Uint32Array.from(before)
  const mix = (to, one, other, bits) => {
    const sum = (x[one] + x[other]) >>> 0
    x[to] ^= (sum << bits) | (sum >>> (32 - bits))
  }
  for (let round = 0; round < 10; round += 1) {
    for (const [p, q, r, s] of QUARTERS) {
      mix(q, p, s, 7)
      mix(r, q, p, 9)
      mix(s, r, q, 13)
      mix(p, s, r, 18)
    }
  }
  return [before, x]
}

const bytesOf = (words) => Buffer.from(Uint32Array.from(words).buffer)

function hsalsa20(key, input) {
  const [, x] = rounds(key, input)
  return bytesOf([0, 5, 10, 15, 6, 7, 8, 9].map((index) => x[index]))
}

function salsa20(key, nonce, length) {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, counter) => {
    const [before, x] = rounds(key, Buffer.concat([nonce, bytesOf([counter, 0])]))
    return bytesOf(x.map((word, index) => word + before[index]))
  })
  return Buffer.concat(blocks).subarray(0, length)
}
