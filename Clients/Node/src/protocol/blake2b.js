// BLAKE2b (RFC 7693), with and without a key. node:crypto's `blake2b512` accepts neither a key nor a different length.

const BLOCK = 128
// Each 64-bit word is stored as two 32-bit halves, low half first.
const IV = [
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
]
// 2.7: the words of the block that each round uses, in order.
const SIGMA = [
  '0123456789abcdef', 'ea489fd61c02b753', 'b8c052fdae367194', '7931dcbe265a40f8', '905724afe1bc683d',
  '2c6a0b834d75fe19', 'c51fed4a0763928b', 'db7ec13950f4862a', '6fe9b308c2d714a5', 'a2847615fb9e3cd0',
].map((row) => Array.from(row, (digit) => 2 * parseInt(digit, 16)))
// 3.2: the columns, then the diagonals.
const QUARTERS = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
].map((quarter) => quarter.map((word) => 2 * word))

/** Returns the hash of a message, of 1 to 64 bytes, under a key of at most 64 bytes. Takes about 10 µs per block of 128 bytes. */
export function blake2b(length, message, key) {
  return new Blake2b(length, key).update(message).digest()
}

/** The hash of a message that arrives in parts. */
export class Blake2b {
  #length
  #state = Uint32Array.from(IV)
  #block = Buffer.alloc(BLOCK)
  #filled = 0
  #count = 0

  constructor(length, key = Buffer.alloc(0)) {
    this.#length = length
    this.#state[0] ^= 0x01010000 ^ (key.length << 8) ^ length
    if (key.length === 0) return
    this.#block.set(key)
    this.#filled = BLOCK
  }

  update(part) {
    for (let at = 0; at < part.length; ) {
      // The last block waits for `digest`.
      if (this.#filled === BLOCK) this.#take(false)
      const more = part.subarray(at, at + BLOCK - this.#filled)
      this.#block.set(more, this.#filled)
      this.#filled += more.length
      at += more.length
    }
    return this
  }

  digest() {
    this.#take(true)
    const hash = Buffer.alloc(64)
    this.#state.forEach((half, index) => hash.writeUInt32LE(half, 4 * index))
    return hash.subarray(0, this.#length)
  }

  #take(isLast) {
    this.#count += this.#filled
    compress(this.#state, this.#block, this.#count, isLast)
    this.#filled = 0
  }
}

/** 3.2. `count` is the number of bytes up to the end of this block. Wipes the block. */
function compress(state, block, count, isLast) {
  const words = Uint32Array.from({ length: 32 }, (_, index) => block.readUInt32LE(4 * index))
  const v = Uint32Array.of(...state, ...IV)
  v[24] ^= count
  v[25] ^= count / 2 ** 32
  if (isLast) for (const index of [28, 29]) v[index] ^= 0xffffffff
  for (let round = 0; round < 12; round += 1) {
    const sigma = SIGMA[round % 10]
    for (let index = 0; index < 8; index += 1) {
      const [a, b, c, d] = QUARTERS[index]
      add(v, a, v, b)
      add(v, a, words, sigma[2 * index])
      rotate(v, d, a, 32)
      add(v, c, v, d)
      rotate(v, b, c, 24)
      add(v, a, v, b)
      add(v, a, words, sigma[2 * index + 1])
      rotate(v, d, a, 16)
      add(v, c, v, d)
      rotate(v, b, c, 63)
    }
  }
  for (let index = 0; index < 16; index += 1) state[index] ^= v[index] ^ v[index + 16]
  for (const each of [block, words, v]) each.fill(0)
}

/** Adds a word to the word at `to`. */
function add(v, to, other, from) {
  const low = v[to] + other[from]
  v[to] = low
  v[to + 1] += other[from + 1] + (low > 0xffffffff ? 1 : 0)
}

/** Replaces the word at `to` with its XOR with the word at `from`, rotated right. */
function rotate(v, to, from, bits) {
  let low = v[to] ^ v[from]
  let high = v[to + 1] ^ v[from + 1]
  if (bits >= 32) [low, high] = [high, low]
  const count = bits % 32
  v[to] = count === 0 ? low : (low >>> count) | (high << (32 - count))
  v[to + 1] = count === 0 ? high : (high >>> count) | (low << (32 - count))
}
