// Keys as text (Specification, section 8), and the rules of 3.3 for public keys.

import { createHash } from 'node:crypto'
import { KeyTextError } from '../errors.js'
import { isAvailable, PUBLIC } from './mlkem.js'
import { isSigningKey } from './points.js'
import { armor, decodeBase64 } from './text.js'

export const RECIPIENT = 'push'
export const HYBRID_RECIPIENT = 'pushpq'
export const SENDER = 'pushsender'
export const ENROLLMENT = 'pushenrollment'
export const AUTHORITY = 'pushauthority'
export const IDENTITY = 'push-secret-key-'
export const HYBRID_IDENTITY = 'push-pq-secret-key-'
export const SENDER_SECRET = 'push-sender-secret-key-'
export const ENROLLMENT_SECRET = 'push-enrollment-secret-key-'
export const AUTHORITY_SECRET = 'push-authority-secret-key-'

// What the text of a hybrid recipient begins with.
const ARMOR = 'pushpq.'
const SECRETS = [IDENTITY, HYBRID_IDENTITY, SENDER_SECRET, ENROLLMENT_SECRET, AUTHORITY_SECRET]
const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const PRIME = Buffer.from('7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed', 'hex')
const LOW_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

/** Whether 3.3.1 accepts this X25519 public key. */
export function isPublicKey(key) {
  const number = Buffer.from(key).reverse()
  return key.length === 32 && Buffer.compare(number, PRIME) < 0 && !LOW_ORDER.has(key.toString('hex'))
}

/** Whether 3.8.2 accepts this hybrid key: each of the 768 12-bit coefficients is below 3329, and its X25519 part is safe. */
export function isHybridKey(key) {
  if (key.length !== PUBLIC + 32) return false
  for (let at = 0; at < PUBLIC - 32; at += 3) {
    const [low, high] = [key[at] | ((key[at + 1] & 15) << 8), (key[at + 1] >> 4) | (key[at + 2] << 4)]
    if (low >= 3329 || high >= 3329) return false
  }
  return isPublicKey(key.subarray(PUBLIC))
}

export function encode(kind, key) {
  if (key.length !== lengthOf(kind) || !mayBe(kind, key)) throw new KeyTextError('refused-key')
  if (kind === HYBRID_RECIPIENT) return armor(ARMOR, Buffer.concat([key, checksum(key)]))
  const values = []
  let [bits, count] = [0, 0]
  for (const byte of key) {
    bits = ((bits << 8) | byte) & 0xfff
    for (count += 8; count >= 5; count -= 5) values.push((bits >> (count - 5)) & 31)
  }
  values.push((bits << (5 - count)) & 31)
  const check = polymod([...expanded(kind), ...values, 0, 0, 0, 0, 0, 0]) ^ 1
  for (let shift = 25; shift >= 0; shift -= 5) values.push((check >> shift) & 31)
  const text = kind + '1' + values.map((value) => ALPHABET[value]).join('')
  values.fill(0)
  return SECRETS.includes(kind) ? text.toUpperCase() : text
}

/** Returns the bytes of a key of this kind. The error never repeats the text (8.5). */
export function decode(kind, text) {
  if (text === undefined || text === null || ['', 'undefined', 'null', 'None'].includes(text)) throw new KeyTextError('not-given')
  if (typeof text === 'string' && text.trim() !== text) throw new KeyTextError('white-space')
  if (kind === HYBRID_RECIPIENT) return decodeArmored(text)
  if (typeof text !== 'string' || text.length > 90 || !/^[\x21-\x7e]*$/.test(text)) throw new KeyTextError('not-a-key')
  const [lower, upper] = [text.toLowerCase(), text.toUpperCase()]
  if ((text !== lower && text !== upper) || (SECRETS.includes(kind) && text !== upper)) throw new KeyTextError('wrong-case')
  const end = lower.lastIndexOf('1')
  const values = Array.from(lower.slice(end + 1), (character) => ALPHABET.indexOf(character))
  if (end < 0 || values.includes(-1)) throw new KeyTextError('not-a-key')
  if (lower.slice(0, end) !== kind) throw new KeyTextError('wrong-kind')
  if (polymod([...expanded(kind), ...values]) !== 1) throw new KeyTextError('wrong-checksum')
  const key = Buffer.alloc(32)
  // 32 bytes are 51 groups of five bits, and one more bit.
  const length = 52
  if (values.length !== length + 6 || values[length - 1] & 15) throw new KeyTextError('not-a-key')
  let [bits, count, at] = [0, 0, 0]
  for (const value of values.slice(0, length)) {
    bits = ((bits << 5) | value) & 0xfff
    count += 5
    if (count >= 8) key[at++] = (bits >> (count -= 8)) & 255
  }
  values.fill(0)
  if (!mayBe(kind, key)) throw new KeyTextError('refused-key')
  return key
}

/** Returns the bytes of a hybrid recipient (8.8). */
function decodeArmored(text) {
  if (typeof text !== 'string') throw new KeyTextError('not-a-key')
  if (!text.startsWith(ARMOR)) throw new KeyTextError(text.toLowerCase().startsWith(ARMOR) ? 'wrong-case' : 'wrong-kind')
  const data = decodeBase64(text.slice(ARMOR.length))
  if (data?.length !== PUBLIC + 36) throw new KeyTextError('not-a-key')
  const key = data.subarray(0, -4)
  if (!checksum(key).equals(data.subarray(-4))) throw new KeyTextError('wrong-checksum')
  if (!isHybridKey(key)) throw new KeyTextError('refused-key')
  return key
}

const checksum = (key) => createHash('sha256').update(key).digest().subarray(0, 4)

/** Like `decode`, but ignores white space and a byte order mark around the text, which files and variables add. */
export const decodeSecret = (kind, text) => decode(kind, typeof text === 'string' ? text.trim() : text)

/** Returns the bytes of a recipient of either kind. Without ML-KEM, a hybrid one is refused as `unsupported` (3.8.6). */
export function decodeRecipient(text) {
  if (typeof text !== 'string' || !/^pushpq\./i.test(text)) return decode(RECIPIENT, text)
  if (!isAvailable) throw new KeyTextError('unsupported')
  return decode(HYBRID_RECIPIENT, text)
}

/** Checks a recipient's text, and returns it as it is written: in lowercase, unless it is hybrid. */
export const recipientText = (text) => (isHybrid(decodeRecipient(text)) ? text : text.toLowerCase())

export const encodeRecipient = (key) => encode(isHybrid(key) ? HYBRID_RECIPIENT : RECIPIENT, key)

/** Whether suite 0x03 seals to this recipient (3.8.5). */
export const isHybrid = (recipient) => recipient.length !== 32

const lengthOf = (kind) => (kind === HYBRID_RECIPIENT ? PUBLIC + 32 : 32)

/** Whether these bytes can be a key of this kind. Any bytes can be a secret. */
function mayBe(kind, key) {
  if (kind === HYBRID_RECIPIENT) return isHybridKey(key)
  if (kind === RECIPIENT || kind === SENDER) return isPublicKey(key)
  return SECRETS.includes(kind) || isSigningKey(key)
}

function expanded(kind) {
  const codes = Array.from(kind, (character) => character.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

function polymod(values) {
  let checksum = 1
  for (const value of values) {
    const top = checksum >>> 25
    checksum = ((checksum & 0x1ffffff) << 5) ^ value
    for (let bit = 0; bit < 5; bit += 1) checksum ^= -((top >> bit) & 1) & GENERATOR[bit]
  }
  return checksum
}
