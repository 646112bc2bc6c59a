// libsodium's secretstream, which node:crypto lacks: XChaCha20 and Poly1305 over chunks (ContentParts 14.2). OpenSSL does the
// work, except for Poly1305 of a chunk whose length isn't a multiple of 8.

import { createCipheriv, timingSafeEqual } from 'node:crypto'
import { poly1305 } from './poly1305.js'

export const [HEADER, ADDED] = [24, 17]
export const [MESSAGE, FINAL] = [0, 3]
const BLOCK = 64
const CONSTANTS = Buffer.from('expand 32-byte k')

/** One direction of a stream. Chunks must be sealed or opened in order. */
export class SecretStream {
  #key
  // The chunk's number, from 1, and 8 bytes that depend on the chunks before.
  #nonce

  constructor(key, header) {
    this.#key = hchacha20(key, header.subarray(0, 16))
    this.#nonce = Buffer.concat([Buffer.of(1, 0, 0, 0), header.subarray(16)])
  }

  /** Returns the sealed chunk: the encrypted tag, the ciphertext, and the MAC. */
  seal(chunk, tag) {
    const plaintext = Buffer.concat([Buffer.alloc(BLOCK), chunk])
    plaintext[0] = tag
    const cipher = createCipheriv('chacha20-poly1305', this.#key, this.#nonce, { authTagLength: 16 })
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
    plaintext.fill(0)
    // libsodium adds as many zeros as the last block has bytes, and not as many as it lacks.
    const rest = chunk.length % 16
    const mac = rest % 8 === 0 ? cipher.getAuthTag() : this.#mac(Buffer.concat([ciphertext, Buffer.alloc(rest)]), ciphertext.length)
    for (let index = 0; index < 8; index += 1) this.#nonce[4 + index] ^= mac[index]
    this.#nonce.writeUInt32LE((this.#nonce.readUInt32LE() + 1) >>> 0)
    return Buffer.concat([ciphertext.subarray(0, 1), ciphertext.subarray(BLOCK), mac])
  }

  /** Returns the chunk, or null unless it's authentic and has this tag. */
  open(sealed, tag) {
    if (sealed.length < ADDED) return null
    const [ciphertext, mac] = [sealed.subarray(1, -16), sealed.subarray(-16)]
    const stream = this.#cipher(1)
    stream.update(Buffer.alloc(BLOCK))
    const chunk = stream.update(ciphertext)
    const again = this.seal(chunk, tag)
    return timingSafeEqual(again.subarray(-16), mac) && again[0] === sealed[0] ? chunk : null
  }

  #cipher(counter) {
    const start = Buffer.alloc(4)
    start.writeUInt32LE(counter)
    return createCipheriv('chacha20', this.#key, Buffer.concat([start, this.#nonce]))
  }

  #mac(padded, length) {
    const lengths = Buffer.alloc(16)
    lengths.writeBigUInt64LE(BigInt(length), 8)
    return poly1305(this.#cipher(0).update(Buffer.alloc(32)), Buffer.concat([padded, lengths]))
  }
}

/** HChaCha20: the first and last words of ChaCha20's state after the rounds, which OpenSSL's block has plus those before. */
function hchacha20(key, input) {
  const block = createCipheriv('chacha20', key, input).update(Buffer.alloc(BLOCK))
  const words = [...[0, 4, 8, 12].map((at) => [at, CONSTANTS.readUInt32LE(at)]), ...[0, 4, 8, 12].map((at) => [48 + at, input.readUInt32LE(at)])]
  const made = Buffer.alloc(32)
  words.forEach(([at, before], index) => made.writeUInt32LE((block.readUInt32LE(at) - before) >>> 0, 4 * index))
  return made
}
