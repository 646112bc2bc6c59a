// Sealing: content in, a payload of at most 4,096 bytes and its headers out.

import { randomBytes, randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { isDevice } from './device.js'
import { SettingError } from './errors.js'
import { forSealing, isVisible, pad, PADDINGS, plain, plainObject } from './protocol/content.js'
import { CHALLENGE, hkdfExpand, hkdfExtract, hmac, OVERHEAD, privateKey, publicBytes, seal, toSeal } from './protocol/hpke.js'
import { decode, encode, RECIPIENT, SENDER, SENDER_SECRET } from './protocol/key-text.js'
import { armour, encodeBase64, isSeconds, isTopic, options, seconds, toJSON } from './protocol/text.js'

const MOST_BYTES = 4096
const LONGEST_ALERT = 1024
const GENERIC_TEXT = 'You have a new message!'
const ALERT_TEXTS = ['title', 'subtitle', 'body', 'title-loc-key', 'subtitle-loc-key', 'loc-key']
const ALERT_LISTS = ['title-loc-args', 'subtitle-loc-args', 'loc-args']

// For Device: a question and the answer to it (11.5.1, 11.5.2), and the hash that is kept of an answer (11.5.7).
export let isSender
export let makeChallenge
export let hashOfAnswer

/** A new sender's secret, PUSH-SENDER-SECRET-KEY-1...: whoever has it can send in your name. Keep it in a secret store. */
export function generateSenderSecret() {
  const bytes = randomBytes(32)
  const text = encode(SENDER_SECRET, bytes)
  bytes.fill(0)
  return text
}

/** Seals the messages of one server for one app. Its members are told in index.d.ts. */
export class Sender {
  #secret
  #headerKey
  #topic
  #padding
  #blake2b
  #around
  #largest

  static {
    isSender = (value) => typeof value === 'object' && value !== null && #secret in value
    makeChallenge = (sender, recipient, enrollment) => sender.#challenge(recipient, enrollment)
    hashOfAnswer = (sender, answer) => sender.#hash(32, answer)
  }

  constructor(secret, settings) {
    const { topic, safeDefault = GENERIC_TEXT, padding = 'buckets', blake2b } = options(settings)
    const bytes = decode(SENDER_SECRET, secret)
    this.#secret = privateKey(bytes)
    this.#headerKey = hkdfExpand(hkdfExtract('', bytes), 'sealedpush/v1 ids', 32)
    bytes.fill(0)
    if (!isTopic(topic)) throw new SettingError('topic')
    if (!PADDINGS.includes(padding)) throw new SettingError('padding')
    this.#topic = topic
    this.#padding = padding
    this.#blake2b = blake2b
    if (blake2b !== undefined) checkBlake2b((...words) => this.#hash(...words))
    // Everything around the envelope's text.
    const clear = JSON.stringify({ aps: { alert: checkedAlert(safeDefault), 'mutable-content': 1 }, 'custom-encrypted-message': '' })
    this.#around = [Buffer.from(clear.slice(0, -2)), Buffer.from(clear.slice(-2))]
    this.#largest = Math.floor(((MOST_BYTES - Buffer.byteLength(clear)) * 3) / 4) - OVERHEAD
  }

  seal(content, device, settings) {
    if (!isDevice(device)) throw new SettingError('device')
    if (device.topic !== this.#topic) throw new SettingError('other-topic')
    const now = seconds(options(settings).now)
    return this.#seal(content, device.recipient({ now }), settings, now)
  }

  sealUnverified(content, recipient, settings) {
    return this.#seal(content, recipient, settings, seconds(options(settings).now))
  }

  get topic() {
    return this.#topic
  }

  get publicKey() {
    return encode(SENDER, publicBytes(this.#secret))
  }

  get mostContentBytes() {
    return this.#largest - 1
  }

  #seal(content, recipient, settings, now) {
    const { priority = 10, expiration } = options(settings)
    const key = decode(RECIPIENT, recipient)
    if (priority !== 10 && priority !== 5) throw new SettingError('priority')
    const made = { id: randomUUID(), topic: this.#topic, sent: now, ...plainObject(content) }
    if (made.topic !== this.#topic) throw new SettingError('other-topic')
    const data = forSealing(made, this.#topic)
    const headers = this.#headers(made, key, priority, expiration ?? made.expires)
    const plaintext = pad(data, this.#padding, this.#largest)
    const sealed = seal(toSeal(this.#secret, key, this.#topic), plaintext)
    data.fill(0)
    plaintext.fill(0)
    const [start, end] = this.#around
    return new Push(Buffer.concat([start, Buffer.from(encodeBase64(sealed)), end]), headers, made.id, encode(RECIPIENT, key))
  }

  #headers(content, recipient, priority, expires) {
    const id = this.#identifier('apns-id', recipient, content.id)
    id[6] = (id[6] & 0x0f) | 0x80
    id[8] = (id[8] & 0x3f) | 0x80
    const collapse = this.#identifier('collapse', recipient, content['collapse-id'] ?? content.id)
    const headers = {
      'apns-topic': this.#topic,
      'apns-push-type': 'alert',
      'apns-priority': String(priority),
      'apns-id': id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      'apns-collapse-id': encodeBase64(collapse),
    }
    if (expires !== undefined) {
      if (!isSeconds(expires)) throw new SettingError('expiration')
      headers['apns-expiration'] = String(expires)
    }
    return headers
  }

  /** 16 bytes by 2.8 and 2.9; without BLAKE2b by HMAC-SHA-256, which 2.10 leaves open. */
  #identifier(name, recipient, text) {
    const message = Buffer.concat([Buffer.from(`${name}\0`), recipient, Buffer.from(text)])
    return this.#blake2b === undefined ? hmac(this.#headerKey, message).subarray(0, 16) : this.#hash(16, message, this.#headerKey)
  }

  #challenge(recipient, enrollment) {
    if (this.#blake2b === undefined) throw new SettingError('blake2b')
    const random = randomBytes(32)
    const plaintext = Buffer.concat([random, enrollment])
    const text = armour('pushchallenge.', seal(toSeal(this.#secret, recipient, this.#topic, CHALLENGE), plaintext))
    const answer = this.#hash(32, Buffer.concat([Buffer.from('sealedpush/v1 answer\0'), recipient, enrollment]), random)
    for (const each of [random, plaintext]) each.fill(0)
    return { text, answer }
  }

  /** BLAKE2b as it was given, in a Buffer; its own errors are not passed on, since they may hold what it was given. */
  #hash(length, message, key) {
    if (this.#blake2b === undefined) throw new SettingError('blake2b')
    let made
    try {
      made = Buffer.from(this.#blake2b(length, message, key))
    } catch {
      made = Buffer.alloc(0)
    }
    if (made.length !== length) throw new SettingError('wrong-blake2b')
    return made
  }

  [inspect.custom]() {
    return `Sender(${this.publicKey}, ${this.#topic})`
  }
}

/** A finished push: the same payload and headers go out in each retry. */
class Push {
  constructor(payload, headers, messageID, recipient) {
    Object.assign(this, { payload, headers: Object.freeze(headers), messageID, recipient })
    Object.freeze(this)
  }

  get message() {
    return JSON.parse(this.payload.toString('utf8'))
  }

  [inspect.custom]() {
    return `Push(${this.messageID}, ${this.payload.length} bytes)`
  }
}

/** The answer of Specification A.3 and its hash: with a key and without. */
function checkBlake2b(hash) {
  const key = Buffer.from('02c72f53b0d3e00cedf9dddf30359929325871cb16949a8b29677956e170a058', 'hex')
  const message =
    '7365616c6564707573682f763120616e7377657200353599b6566d36e4292de5fcc61c99fd479231bfbb24b0c40d1b547540cee46d' +
    'c895670ba740a9869354b32855e586504d05e8a5cb9380a1bb13dbebccb7998c'
  const answer = hash(32, Buffer.from(message, 'hex'), key)
  const isRight =
    answer.toString('hex') === 'ec55f181b6316f3f4290d0d2a52f404c27195437e3b2a51a3ac2649c564159bc' &&
    hash(32, answer).toString('hex') === '7533558f0ac4fb525f5699c547fb9b0704591e4f6fa5c894fcad5df7d2e1b3e4'
  if (!isRight) throw new SettingError('wrong-blake2b')
}

/** The clear alert: visible, and no more than a quarter of the payload (2.2). */
function checkedAlert(given) {
  let alert
  try {
    alert = plain(given)
  } catch {
    throw new SettingError('safe-default')
  }
  let texts = [alert]
  if (typeof alert === 'object' && alert !== null) {
    const known = Object.entries(alert).every(([name, value]) =>
      ALERT_TEXTS.includes(name)
        ? typeof value === 'string'
        : ALERT_LISTS.includes(name) && Array.isArray(value) && value.every((each) => typeof each === 'string'),
    )
    texts = known ? ALERT_TEXTS.filter((name) => name in alert).map((name) => alert[name]) : []
  }
  const isShown = texts.some((text) => typeof text === 'string' && isVisible(text))
  if (!isShown || toJSON(alert).length > LONGEST_ALERT) throw new SettingError('safe-default')
  return alert
}
