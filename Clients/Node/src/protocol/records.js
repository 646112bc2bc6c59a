// Signed records (Specification 11.1 to 11.3).

import { createHash, verify } from 'node:crypto'
import { RecordError } from '../errors.js'
import { publicKey } from './hpke.js'
import { isPublicKey } from './key-text.js'
import { isOfLowOrder, isSigningKey } from './points.js'
import { isTopic, LATEST, unarmour } from './text.js'

export const DEVICE = 1

export const checksum = (bytes) => createHash('sha256').update(bytes).digest().subarray(0, 4)
export const signedMessage = (unsigned) => Buffer.concat([Buffer.from('sealedpush/v1 record\0'), unsigned])

/** Checks form and signature (11.3, steps 1 to 5). */
export function readRecord(type, text) {
  const data = unarmour('pushrecord.', text, 161, 795)
  if (data === null) throw new RecordError('malformed')
  const bytes = data.subarray(0, -4)
  if (!checksum(bytes).equals(data.subarray(-4))) throw new RecordError('wrong-checksum')
  if (bytes[0] !== type) throw new RecordError('wrong-type')
  const topicEnd = 59 + bytes[58]
  const keysEnd = topicEnd + 1 + 32 * (bytes[topicEnd] ?? 0)
  if (bytes[1] !== 1 || bytes.length !== keysEnd + 64) throw new RecordError('malformed')
  const signer = bytes.subarray(2, 34)
  const [counter, created, expires] = [34, 42, 50].map((at) => bytes.readBigUInt64BE(at))
  const topic = bytes.toString('latin1', 59, topicEnd)
  const keys = []
  for (let at = topicEnd + 1; at < keysEnd; at += 32) keys.push(bytes.subarray(at, at + 32))
  if (
    !(created < expires && expires <= LATEST) ||
    !isTopic(topic) ||
    !(keys.length >= 1 && keys.length <= 16) ||
    new Set(keys.map((key) => key.toString('hex'))).size !== keys.length ||
    !keys.every(isPublicKey) ||
    !isSigningKey(signer)
  ) {
    throw new RecordError('malformed')
  }
  const signature = bytes.subarray(-64)
  // OpenSSL sees to S, to the equation, and to R's encoding (11.2.3); the order of R is looked at here.
  const holds =
    !isOfLowOrder(signature.subarray(0, 32)) &&
    verify(null, signedMessage(bytes.subarray(0, -64)), publicKey(signer, 'ed25519'), signature)
  if (!holds) throw new RecordError('bad-signature')
  return { signer, counter, created: Number(created), expires: Number(expires), topic, keys, bytes }
}

/** 11.3, steps 6 to 11. `known` is the newest record so far, where there is one. */
export function checkRecord(record, pinned, topic, known, now) {
  if (!record.signer.equals(pinned)) throw new RecordError('foreign-signer')
  if (record.topic !== topic) throw new RecordError('other-topic')
  if (now > record.expires) throw new RecordError('expired')
  if (record.created - now > 93600) throw new RecordError('not-yet-valid')
  if (known === undefined || known.topic !== topic) return
  if (record.counter < known.counter) throw new RecordError('rolled-back')
  if (record.counter === known.counter && !record.bytes.equals(known.bytes)) throw new RecordError('conflicting')
}
