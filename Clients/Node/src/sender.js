// Seals content into a payload of at most 4,096 bytes and its headers.

import { randomBytes, randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { isDevice } from './device.js'
import { RecordError, SettingError } from './errors.js'
import { blake2b } from './protocol/blake2b.js'
import { forSealing, isBackground, pad, PADDINGS, plain, plainObject, suspects } from './protocol/content.js'
import { CHALLENGE, derive, overhead, privateKey, publicBytes, seal, senderScalar, toSeal } from './protocol/hpke.js'
import { decodeRecipient, decodeSecret, encode, encodeRecipient, isHybrid, SENDER, SENDER_SECRET } from './protocol/key-text.js'
import { CIPHERTEXT } from './protocol/mlkem.js'
import { deviceID, isAddress, request, serverKey } from './protocol/receipts.js'
import { armor, encodeBase64, isSeconds, isTopic, LATEST, options, seconds, toJSON } from './protocol/text.js'
import { alertOf } from './protocol/visible.js'

const MOST_BYTES = 4096
const DAY = 86400
const LONGEST_ALERT = 1024
const GENERIC_TEXT = 'You have a new message!'
/** The payload up to the envelope in a push that the app opens (21.3). */
const BACKGROUND = Buffer.from('{"aps":{"content-available":1},"custom-encrypted-message":"')
const SEAL_OPTIONS = ['priority', 'expiration', 'now']

// For Device: whether a value is a Sender, and a challenge with its answer (11.5.1, 11.5.2).
export let isSender
export let makeChallenge

/** Returns a new sender's secret, PUSH-SENDER-SECRET-KEY-1.... Anyone who has it can send in your name: keep it in a secret store. */
export function generateSenderSecret() {
  const bytes = randomBytes(32)
  const text = encode(SENDER_SECRET, bytes)
  bytes.fill(0)
  return text
}

/** Seals the messages of one server for one app. index.d.ts documents the members. */
export class Sender {
  #secret
  #publicText
  #headerKey
  #topic
  #padding
  #requireHybrid
  #around
  #largest
  #receipts
  #receiptKey

  static {
    isSender = (value) => typeof value === 'object' && value !== null && #secret in value
    makeChallenge = (sender, recipient, enrollment) => sender.#challenge(recipient, enrollment)
  }

  constructor(secret, settings) {
    const names = ['topic', 'safeDefault', 'padding', 'requireHybrid', 'receipts']
    const { topic, safeDefault = GENERIC_TEXT, padding = 'buckets', requireHybrid = false, receipts } = options(settings, ...names)
    const bytes = decodeSecret(SENDER_SECRET, secret)
    const scalar = senderScalar(bytes)
    this.#secret = privateKey(scalar)
    scalar.fill(0)
    this.#publicText = encode(SENDER, publicBytes(this.#secret))
    if (isTopic(topic)) this.#headerKey = derive(bytes, 'sealedpush/v1 ids', topic)
    if (isTopic(topic)) this.#receiptKey = serverKey(bytes, topic)
    bytes.fill(0)
    if (!isTopic(topic)) throw new SettingError('topic')
    if (!PADDINGS.includes(padding)) throw new SettingError('padding')
    if (typeof requireHybrid !== 'boolean') throw new SettingError('require-hybrid')
    if (receipts !== undefined && !isAddress(receipts)) throw new SettingError('receipts')
    this.#topic = topic
    this.#padding = padding
    this.#requireHybrid = requireHybrid
    this.#receipts = receipts
    // Everything around the envelope's text, and the largest envelope that fits (5.3).
    const clear = JSON.stringify({ aps: { alert: checkedAlert(safeDefault), 'mutable-content': 1 }, 'custom-encrypted-message': '' })
    this.#around = [Buffer.from(clear.slice(0, -2)), Buffer.from(clear.slice(-2))]
    this.#largest = Math.floor(((MOST_BYTES - Buffer.byteLength(clear)) * 3) / 4)
  }

  seal(content, device, settings) {
    if (!isDevice(device)) throw new SettingError('device')
    if (device.topic !== this.#topic) throw new SettingError('other-topic')
    const now = seconds(options(settings, ...SEAL_OPTIONS).now)
    return this.#seal(content, device.recipient({ now }), settings, now, device.keeps)
  }

  sealUnverified(content, recipient, settings) {
    return this.#seal(content, recipient, settings, seconds(options(settings, ...SEAL_OPTIONS).now))
  }

  receiptDevice(recipient) {
    return encodeBase64(deviceID(this.#receiptKey, decodeRecipient(recipient)))
  }

  get topic() {
    return this.#topic
  }

  get publicKey() {
    return this.#publicText
  }

  get maxContentBytes() {
    return this.#largest - 69 - (this.#requireHybrid ? CIPHERTEXT : 0) - 1
  }

  /** `keeps`: the number of days for which the device keeps a retired key, or undefined without a record. */
  #seal(content, recipient, settings, now, keeps) {
    const { priority = 10, expiration } = options(settings, ...SEAL_OPTIONS)
    const key = decodeRecipient(recipient)
    if (this.#requireHybrid && !isHybrid(key)) throw new RecordError('not-hybrid')
    if (priority !== 10 && priority !== 5) throw new SettingError('priority')
    const made = { id: randomUUID(), topic: this.#topic, sent: now, ...plainObject(content) }
    if (made.topic !== this.#topic) throw new SettingError('other-topic')
    if ((expiration ?? 0) !== 0 && !(isSeconds(expiration) && expiration >= now)) throw new SettingError('expiration')
    if (keeps < 30 && made.expires === undefined && isSeconds(made.sent)) {
      const expires = Math.min(made.sent + keeps * DAY, LATEST)
      if (expires >= now) made.expires = expires
    }
    if (this.#receipts !== undefined && !('receipt' in made) && !('withdraw' in made)) {
      made.receipt = request(this.#receiptKey, key, this.#receipts)
    }
    const data = forSealing(made, this.#topic, now)
    suspects(made).forEach(warn)
    if (keeps !== undefined) {
      // Content without `expires` opens for 30 days (6.4).
      checkKept(keeps, made.sent, made.expires ?? made.sent + 30 * DAY)
      checkKept(keeps, now, expiration ?? 0)
    }
    const headers = this.#headers(made, key, priority, expiration ?? made.expires)
    const plaintext = pad(data, this.#padding, this.#largest - overhead(key), isHybrid(key))
    const sealed = seal(toSeal(this.#secret, key, this.#topic), plaintext)
    data.fill(0)
    plaintext.fill(0)
    const [start, end] = [isBackground(made) ? BACKGROUND : this.#around[0], this.#around[1]]
    return new Push(Buffer.concat([start, Buffer.from(encodeBase64(sealed)), end]), headers, made.id, encodeRecipient(key), this.publicKey)
  }

  #headers(content, recipient, priority, expires) {
    const id = this.#identifier('apns-id', recipient, content.id)
    id[6] = (id[6] & 0x0f) | 0x80
    id[8] = (id[8] & 0x3f) | 0x80
    const collapse = this.#identifier('collapse', recipient, content['collapse-id'] ?? content.id)
    const headers = {
      'apns-topic': this.#topic,
      'apns-push-type': isBackground(content) ? 'background' : 'alert',
      'apns-priority': isBackground(content) ? '5' : String(priority),
      'apns-id': id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      'apns-collapse-id': encodeBase64(collapse),
    }
    if (expires !== undefined) headers['apns-expiration'] = String(expires)
    return headers
  }

  /** Returns the 16 bytes of an identifier (2.8, 2.9). */
  #identifier(name, recipient, text) {
    return blake2b(16, Buffer.concat([Buffer.from(`${name}\0`), recipient, Buffer.from(text)]), this.#headerKey)
  }

  #challenge(recipient, enrollment) {
    const random = randomBytes(32)
    const plaintext = Buffer.concat([random, enrollment])
    const text = armor('pushchallenge.', seal(toSeal(this.#secret, recipient, this.#topic, CHALLENGE), plaintext))
    const answer = blake2b(32, Buffer.concat([Buffer.from('sealedpush/v1 answer\0'), recipient, enrollment]), random)
    for (const each of [random, plaintext]) each.fill(0)
    return { text, answer }
  }

  [inspect.custom]() {
    return `Sender(${this.publicKey}, ${this.#topic})`
  }
}

/** Throws if the device may have erased its key before `end` (11.4.6). The hour allows for clock differences. */
function checkKept(keeps, start, end) {
  if (end - start > keeps * DAY + 3600) throw new RecordError('expires-too-late')
}

const warned = new Set()

/** Warns once about each member. */
function warn(member) {
  if (warned.has(member) || warned.size === 100) return
  warned.add(member)
  process.emitWarning(`"${member}" is not a known member and looks misspelled`, 'SealedPushWarning')
}

/** A finished push. Send the same payload and headers in each retry. */
class Push {
  constructor(payload, headers, messageID, recipient, sender) {
    Object.assign(this, { payload, headers: Object.freeze(headers), messageID, recipient, sender })
    Object.freeze(this)
  }

  get message() {
    return JSON.parse(this.payload.toString('utf8'))
  }

  toJSON() {
    return { ...this, payload: this.payload.toString('utf8') }
  }

  [inspect.custom]() {
    return `Push(${this.messageID}, ${this.payload.length} bytes)`
  }
}

/** Returns the alert in the clear, which has the form of Specification 2.2 and is at most a quarter of the payload. */
function checkedAlert(given) {
  let alert
  try {
    alert = alertOf(plain(given))
  } catch {}
  if (alert === undefined || toJSON(alert).length > LONGEST_ALERT) throw new SettingError('safe-default')
  return alert
}
