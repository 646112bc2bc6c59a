// Enqueues pushes into an outbox in PostgreSQL, in the application's own transaction (Docs/PostgreSQL.md).

import { inspect } from 'node:util'
import { SettingError } from './errors.js'
import { blake2b } from './protocol/blake2b.js'
import { byteCount, decodeBase64, isUnicode, options } from './protocol/text.js'

const NAMES = ['device', 'recipient', 'payload', 'apns_id', 'collapse_id', 'priority', 'expiration', 'sender', 'key', 'code']
const ENQUEUE = `SELECT sealed_push.enqueue(${NAMES.map((name, index) => `${name} => $${index + 1}`).join(', ')})`

let codeOf

/** The key that authenticates an outbox's rows. index.d.ts documents the members. */
export class OutboxKey {
  #secret

  static {
    codeOf = (key, fields) => blake2b(32, Buffer.concat(fields.map(field)), key.#secret)
  }

  constructor(text) {
    const words = typeof text === 'string' ? text.replace(/^\ufeff/, '').trim().split(/\s+/) : []
    const secret = words.length === 2 && words[0] === 'sealed-push-outbox-key' ? decodeBase64(words[1]) : null
    if (secret?.length !== 32) throw new SettingError('outbox-key')
    this.#secret = secret
  }

  [inspect.custom]() {
    return 'OutboxKey()'
  }
}

export function enqueueQuery(push, device, settings) {
  const { key = null, outboxKey } = options(settings, 'key', 'outboxKey')
  const { payload, headers, recipient, sender } = push ?? {}
  if (typeof sender !== 'string' || typeof headers !== 'object') throw new SettingError('push')
  // A name can be a segment of a path, and URL parsers remove these two.
  if (!isText(device, 128) || device === '.' || device === '..') throw new SettingError('device-name')
  if (key !== null && !isText(key, 256)) throw new SettingError('idempotency-key')
  if (outboxKey !== undefined && !(outboxKey instanceof OutboxKey)) throw new SettingError('outbox-key')
  const text = Buffer.from(payload).toString()
  const [priority, expires] = [Number(headers['apns-priority']), headers['apns-expiration']]
  const expiration = expires === undefined ? null : Number(expires)
  const [apnsID, collapseID] = [headers['apns-id'], headers['apns-collapse-id']]
  // The code of an entry (Docs/Decisions/0040).
  const signed = ['entry', device, headers['apns-topic'], priority, expiration, apnsID, collapseID, Buffer.from(text), sender]
  const code = outboxKey === undefined ? null : codeOf(outboxKey, signed)
  return { text: ENQUEUE, values: [device, recipient, text, apnsID, collapseID, priority, expiration, sender, key, code] }
}

const isText = (value, longest) =>
  typeof value === 'string' && isUnicode(value) && value !== '' && byteCount(value) <= longest && !value.includes('\0')

function field(value) {
  const number = Buffer.alloc(8)
  let [kind, data] = [0, Buffer.alloc(0)]
  if (typeof value === 'number') {
    number.writeBigInt64BE(BigInt(value))
    ;[kind, data] = [1, number]
  } else if (typeof value === 'string') [kind, data] = [2, Buffer.from(value)]
  else if (value !== null) [kind, data] = [3, value]
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(data.length))
  return Buffer.concat([Buffer.of(kind), length, data])
}
