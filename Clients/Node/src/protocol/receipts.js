// Receipts, made as a device does and checked as a server does (ContentParts, section 16).

import { timingSafeEqual } from 'node:crypto'
import { ReceiptError } from '../errors.js'
import { blake2b } from './blake2b.js'
import { derive } from './hpke.js'
import { decodeBase64, encodeBase64, LATEST } from './text.js'
import { isURL } from './urls.js'

export const REASONS = [
  'malformed', 'unknown-recipient', 'locked', 'keys-unavailable', 'unknown-sender', 'anonymous-not-allowed', 'rejected',
  'malformed-content', 'topic', 'key-retired', 'clock', 'too-old', 'expired', 'replayed', 'ledger-unavailable', 'out-of-time', 'unknown-suite',
]
const [LENGTH, MAC, COUNTS] = [128, 32, 25]
const [MAXIMUM_AGE, MAXIMUM_LEAD] = [604800, 93600]
const LONGEST_URL = 256

/** Returns a server's key for receipts (16.4). */
export const serverKey = (seed, topic) => derive(seed, 'sealedpush/v1 receipts', topic)

export const deviceID = (server, recipient) => blake2b(16, Buffer.concat([Buffer.from('id\0'), recipient]), server)
export const deviceKey = (server, id) => blake2b(32, Buffer.concat([Buffer.from('key\0'), id]), server)
export const numberOf = (key, message) => blake2b(16, Buffer.from(`sealedpush/v1 receipt number\0${message}`), key)
const macOf = (key, body) => blake2b(MAC, Buffer.concat([Buffer.from('sealedpush/v1 receipt\0'), body]), key)

/** Makes a receipt (16.2). `counts` has each reason's count by its number, from 1. */
export function make(key, id, message, created, elapsed, counts) {
  const body = Buffer.alloc(LENGTH - MAC)
  body[0] = 1
  Buffer.concat([id, numberOf(key, message)]).copy(body, 1)
  body.writeBigUInt64BE(BigInt(created), 33)
  body[41] = 1
  body.writeUInt32BE(Math.min(elapsed, 0xffffffff), 42)
  for (let index = 1; index <= COUNTS; index += 1) body.writeUInt16BE(Math.min(counts.get(index) ?? 0, 0xffff), 44 + 2 * index)
  return Buffer.concat([body, macOf(key, body)])
}

/** Checks a receipt and returns its values (16.5). `servers` are the keys of 16.4. */
export function check(body, servers, now) {
  if (body.length !== LENGTH) throw new ReceiptError('wrong-size')
  if (body[0] !== 1) throw new ReceiptError('unknown-version')
  const [id, signed, mac] = [body.subarray(1, 17), body.subarray(0, -MAC), body.subarray(-MAC)]
  if (!servers.some((server) => timingSafeEqual(macOf(deviceKey(server, id), signed), mac))) throw new ReceiptError('rejected')
  const created = body.readBigUInt64BE(33)
  if (created > LATEST || body[41] !== 1) throw new ReceiptError('malformed')
  const at = Number(created)
  if (now - at > MAXIMUM_AGE) throw new ReceiptError('too-old')
  if (at - now > MAXIMUM_LEAD) throw new ReceiptError('clock')
  const counts = Array.from({ length: COUNTS }, (_, index) => body.readUInt16BE(46 + 2 * index))
  return { id, number: body.subarray(17, 33), created: at, elapsed: body.readUInt32BE(42), counts }
}

// The request (16.1)

export const isAddress = (text) => isURL(text, LONGEST_URL)

/** Returns the request for a receipt in a message to this recipient. */
export function request(server, recipient, url) {
  const id = deviceID(server, recipient)
  return { url, id: encodeBase64(id), key: encodeBase64(deviceKey(server, id)) }
}

/** Returns the URL, ID, and key, or null if the value breaks a rule. */
export function readRequest(value) {
  if (typeof value !== 'object' || value === null || !isAddress(value.url)) return null
  const [id, key] = [decodeBase64(value.id), decodeBase64(value.key)]
  return id?.length === 16 && key?.length === 32 ? { url: value.url, id, key } : null
}
