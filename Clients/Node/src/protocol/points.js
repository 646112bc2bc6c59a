// Checks of Ed25519 public keys and of R in signatures (Specification 8.6, 11.2.3). OpenSSL verifies signatures, but doesn't check
// the subgroup. The arithmetic is that of RFC 8032, section 5.1. All points are public; this code never handles secrets.

const P = 2n ** 255n - 19n
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const ROOT = power(2n, (P - 1n) / 4n)
const IDENTITY = [0n, 1n, 1n, 0n]
const LOW_ORDER = new Set([
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
])
const MOST_KNOWN = 10_000
const known = new Set()

/** Whether 8.6 accepts this public key: canonical, on the curve, in the main subgroup, but not its identity. A new key takes about 2 ms. */
export function isSigningKey(bytes) {
  if (bytes.length !== 32) return false
  const text = bytes.toString('hex')
  if (known.has(text)) return true
  const point = decompress(bytes)
  if (point === null || isIdentity(point) || !isIdentity(multiply(point, L))) return false
  if (known.size >= MOST_KNOWN) known.clear()
  known.add(text)
  return true
}

/** Whether 32 bytes are the canonical encoding of a point of low order. */
export const isOfLowOrder = (bytes) => LOW_ORDER.has(bytes.toString('hex'))

function modulo(value) {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

function power(base, exponent) {
  let result = 1n
  for (let square = base; exponent > 0n; exponent >>= 1n, square = (square * square) % P) {
    if (exponent & 1n) result = (result * square) % P
  }
  return result
}

/** RFC 8032, 5.1.3. */
function decompress(bytes) {
  const number = BigInt('0x' + Buffer.from(bytes).reverse().toString('hex'))
  const sign = number >> 255n
  const y = number & (2n ** 255n - 1n)
  if (y >= P) return null
  const u = modulo(y * y - 1n)
  const v = modulo(D * y * y + 1n)
  let x = modulo(u * v ** 3n * power(modulo(u * v ** 7n), (P - 5n) / 8n))
  if (modulo(v * x * x - u) !== 0n) {
    if (modulo(v * x * x + u) !== 0n) return null
    x = (x * ROOT) % P
  }
  if (x === 0n && sign === 1n) return null
  if ((x & 1n) !== sign) x = P - x
  return [x, y, 1n, (x * y) % P]
}

/** RFC 8032, 5.1.4. Correct for any two points, even if they're equal. */
function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = ((y1 - x1) * (y2 - x2)) % P
  const b = ((y1 + x1) * (y2 + x2)) % P
  const c = (((2n * D * t1) % P) * t2) % P
  const d = (2n * z1 * z2) % P
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [(e * f) % P, (g * h) % P, (f * g) % P, (e * h) % P]
}

function multiply(point, scalar) {
  let result = IDENTITY
  for (let doubled = point; scalar > 0n; scalar >>= 1n, doubled = add(doubled, doubled)) {
    if (scalar & 1n) result = add(result, doubled)
  }
  return result
}

function isIdentity([x, y, z]) {
  return modulo(x) === 0n && modulo(y - z) === 0n
}
