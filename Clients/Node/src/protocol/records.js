// Signed records and leavings (Specification 11.1 to 11.3; EnrollmentHTTP 6.1).

import { createHash, sign, verify } from 'node:crypto'
import { RecordError } from '../errors.js'
import { publicBytes, publicKey } from './hpke.js'
import { isHybrid, isHybridKey, isPublicKey } from './key-text.js'
import { isAvailable, PUBLIC } from './mlkem.js'
import { isOfLowOrder, isSigningKey } from './points.js'
import { armor, isTopic, LATEST, unarmor } from './text.js'

export const [DEVICE, SENDERS] = [1, 2]
const VERSION = 3
const [SHORTEST, LONGEST] = [130, 8192]
const HIGHEST = 2n ** 62n - 1n
// The lengths of the keys of each known algorithm, for each type of record.
const KEY_LENGTHS = { 1: { 1: 32, 3: PUBLIC + 32 }, 2: { 1: 32 } }

export const checksum = (bytes) => createHash('sha256').update(bytes).digest().subarray(0, 4)
export const signedMessage = (unsigned) => Buffer.concat([Buffer.from('sealedpush/v1 record\0'), unsigned])

/**
 * Returns the text of a signed record (11.1, 11.2). For tests: a server doesn't sign records. Each key is X25519 or hybrid, as its
 * length tells, or an algorithm's byte with any bytes.
 */
export function signRecord(type, secret, { counter, created, expires, keeps, topic, keys }) {
  const numbers = [counter, created, expires].map((number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(BigInt(number))
    return bytes
  })
  const unsigned = Buffer.concat([
    Buffer.of(type, VERSION), publicBytes(secret), ...numbers, Buffer.of(keeps, topic.length), Buffer.from(topic), Buffer.of(keys.length),
    ...keys
      .map((key) => (Array.isArray(key) ? key : [isHybrid(key) ? 3 : 1, key]))
      .flatMap(([algorithm, key]) => [Buffer.of(algorithm, key.length >> 8, key.length & 255), key]),
  ])
  const bytes = Buffer.concat([unsigned, sign(null, signedMessage(unsigned), secret)])
  return armor('pushrecord.', Buffer.concat([bytes, checksum(bytes)]))
}

/** Checks the form and the signature (11.3, steps 1 to 5). */
export function readRecord(type, text) {
  const data = unarmor('pushrecord.', text, SHORTEST + 4, LONGEST + 4)
  if (data === null) throw new RecordError('malformed')
  const bytes = data.subarray(0, -4)
  if (!checksum(bytes).equals(data.subarray(-4))) throw new RecordError('wrong-checksum')
  if (bytes[0] !== type) throw new RecordError('wrong-type')
  if (bytes[1] !== VERSION) throw new RecordError('unsupported')
  const topicEnd = 60 + bytes[59]
  const keys = []
  const listed = new Set()
  const count = bytes[topicEnd] ?? 0
  let at = topicEnd + 1
  for (let left = count; left > 0; left -= 1) {
    if (at + 3 > bytes.length) throw new RecordError('malformed')
    const [algorithm, length] = [bytes[at], bytes.readUInt16BE(at + 1)]
    const end = at + 3 + length
    const known = KEY_LENGTHS[type][algorithm]
    if (length === 0 || end > bytes.length || (known ?? length) !== length) throw new RecordError('malformed')
    listed.add(bytes.toString('hex', at, end))
    if (known !== undefined) keys.push(bytes.subarray(at + 3, end))
    at = end
  }
  const keeps = bytes[58]
  const isKept = type === DEVICE ? keeps >= 1 && keeps <= 31 : keeps === 0
  if (!isKept || bytes.length !== at + 64) throw new RecordError('malformed')
  const signer = bytes.subarray(2, 34)
  const [counter, created, expires] = [34, 42, 50].map((at) => bytes.readBigUInt64BE(at))
  const topic = bytes.toString('latin1', 60, topicEnd)
  if (
    counter > HIGHEST ||
    !(created < expires && expires <= LATEST) ||
    !isTopic(topic) ||
    !(count >= 1 && count <= 16) ||
    listed.size !== count ||
    !keys.every((key) => (isHybrid(key) ? isHybridKey(key) : isPublicKey(key))) ||
    !isSigningKey(signer)
  ) {
    throw new RecordError('malformed')
  }
  check(signer, signedMessage(bytes.subarray(0, -64)), bytes.subarray(-64))
  if (keys.length === 0 || (keys.some(isHybrid) && !isAvailable)) throw new RecordError('unsupported')
  return { signer, keeps, counter, created: Number(created), expires: Number(expires), topic, keys, bytes }
}

/** Throws unless the signature is valid. OpenSSL checks S, the equation, and R's encoding (11.2.3), but not the order of R. */
function check(signer, message, signature) {
  const holds = !isOfLowOrder(signature.subarray(0, 32)) && verify(null, message, publicKey(signer, 'ed25519'), signature)
  if (!holds) throw new RecordError('bad-signature')
}

const counted = (text) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)])

/** Returns the message that a leaving's signature covers (EnrollmentHTTP 6.1). */
const leavingMessage = (unsigned, topic) => Buffer.concat([Buffer.from('sealedpush/v1 leaving\0'), unsigned, counted(topic)])

/** Returns the text of a leaving. For tests: a server doesn't sign leavings. */
export function signLeaving(secret, counter, topic, service) {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(counter))
  const unsigned = Buffer.concat([publicBytes(secret), number, counted(service)])
  return armor('pushleaving.', Buffer.concat([unsigned, sign(null, leavingMessage(unsigned, topic), secret)]))
}

/** Checks the form, the signature, and the service. The counter may be one higher than a record's. */
export function readLeaving(text, topic, service) {
  const bytes = unarmor('pushleaving.', text, 106, 260)
  if (bytes === null) throw new RecordError('malformed')
  const [signer, counter] = [bytes.subarray(0, 32), bytes.readBigUInt64BE(32)]
  const name = bytes.toString('latin1', 41, bytes.length - 64)
  const isWhole = bytes[40] === name.length && isTopic(name)
  if (!isWhole || counter > HIGHEST + 1n || !isSigningKey(signer)) throw new RecordError('malformed')
  check(signer, leavingMessage(bytes.subarray(0, -64), topic), bytes.subarray(-64))
  if (name !== service) throw new RecordError('other-service')
  return { signer, counter }
}

/** Performs the checks of 11.3, steps 6 to 11. `known` is the newest known record, if any. */
export function checkRecord(record, pinned, topic, known, now) {
  if (!record.signer.equals(pinned)) throw new RecordError('foreign-signer')
  if (record.topic !== topic) throw new RecordError('other-topic')
  if (now > record.expires) throw new RecordError('expired')
  if (record.created - now > 93600) throw new RecordError('not-yet-valid')
  if (known === undefined || known.topic !== topic) return
  if (record.counter < known.counter) throw new RecordError('rolled-back')
  if (record.counter === known.counter && !record.bytes.equals(known.bytes)) throw new RecordError('conflicting')
}
