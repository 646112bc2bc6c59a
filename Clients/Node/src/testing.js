// A phone for trials and for a back end's own tests. Never ship it in an app.

import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { ChallengeError, KeyTextError, OpenError, SettingError } from './errors.js'
import { blake2b } from './protocol/blake2b.js'
import * as hpke from './protocol/hpke.js'
import { decode, decodeRecipient, encode, encodeRecipient, ENROLLMENT, ENROLLMENT_SECRET, isPublicKey, SENDER } from './protocol/key-text.js'
import { fieldOf, Identity, openEnvelope, openField } from './protocol/opening.js'
import { DEVICE, signLeaving, signRecord } from './protocol/records.js'
import { make, readRequest, REASONS } from './protocol/receipts.js'
import { armor, isTopic, options, seconds, unarmor } from './protocol/text.js'

export { OpenError }

const LIFETIME = 400 * 86400

/** One app on one device. testing.d.ts documents the members. */
export class Phone {
  #topic
  #hybrid
  #keeps
  #allowAnonymous
  #secret
  #counter = 0
  #record
  // Newest first. A retired identity has the time of its retirement.
  #active
  #retired = []
  #seen = new Set()
  // The number of pushes that didn't open since the last receipt, by code.
  #failures = new Map()

  constructor(settings) {
    const names = ['topic', 'trusting', 'hybrid', 'keeps', 'allowAnonymous', 'identities', 'enrollmentSecret']
    const given = options(settings, ...names)
    const { topic, trusting = [], hybrid = false, keeps = 30, allowAnonymous = false, identities = [] } = given
    const { enrollmentSecret = encode(ENROLLMENT_SECRET, randomBytes(32)) } = given
    if (!isTopic(topic)) throw new SettingError('topic')
    if (!Array.isArray(trusting) || !Array.isArray(identities)) throw new KeyTextError('not-a-key')
    if (!Number.isInteger(keeps) || keeps < 1 || keeps > 31) throw new SettingError('keeps')
    Object.assign(this, { trusting: [...trusting] })
    this.#topic = topic
    this.#hybrid = hybrid
    this.#keeps = keeps
    this.#allowAnonymous = allowAnonymous
    this.#secret = hpke.privateKey(decode(ENROLLMENT_SECRET, enrollmentSecret), 'ed25519')
    this.#active = identities.map(Identity.read)
    this.#senders()
    if (this.#active.length > 0) this.signRecord()
    else this.rotate()
  }

  get topic() {
    return this.#topic
  }

  get record() {
    return this.#record
  }

  get enrollment() {
    return encode(ENROLLMENT, this.#enrollment)
  }

  get recipients() {
    return this.#active.map(({ recipient }) => encodeRecipient(recipient))
  }

  rotate(settings) {
    const { hybrid = this.#hybrid } = options(settings, 'hybrid')
    this.#active.unshift(new Identity(randomBytes(32), hybrid))
    this.signRecord()
    return this.recipients[0]
  }

  retire(settings) {
    const retired = seconds(options(settings, 'now').now)
    this.#retired.push(...this.#active.splice(1).map((each) => Object.assign(each, { retired })))
    this.signRecord()
  }

  signRecord(settings) {
    const names = ['counter', 'created', 'lifetime', 'keeps', 'recipients']
    const { counter = this.#counter + 1, created, lifetime = LIFETIME } = options(settings, ...names)
    const { keeps = this.#keeps, recipients = this.recipients } = settings ?? {}
    this.#counter = counter
    this.#keeps = keeps
    const start = seconds(created)
    const fields = { counter, created: start, expires: start + lifetime, keeps, topic: this.#topic, keys: recipients.map(decodeRecipient) }
    this.#record = signRecord(DEVICE, this.#secret, fields)
    return this.#record
  }

  leave(settings) {
    const { service = this.#topic } = options(settings, 'service')
    if (!isTopic(service)) throw new SettingError('service')
    this.#active = []
    this.#retired = []
    this.rotate()
    return signLeaving(this.#secret, this.#counter, this.#topic, service)
  }

  answer(challenge) {
    const envelope = unarmor('pushchallenge.', challenge, 133, 1221)
    const isWhole = envelope !== null && envelope.length === { 1: 133, 3: 1221 }[envelope[0]]
    if (!isWhole || !isPublicKey(envelope.subarray(9, 41))) throw new ChallengeError('malformed')
    const device = { identities: this.#active, senders: this.#senders(), topic: this.#topic, purpose: hpke.CHALLENGE }
    const { plaintext, identity } = openEnvelope(envelope, device, ChallengeError)
    if (!plaintext.subarray(32).equals(this.#enrollment)) throw new ChallengeError('foreign-enrollment')
    const message = Buffer.concat([Buffer.from('sealedpush/v1 answer\0'), identity.recipient, this.#enrollment])
    return armor('pushanswer.', blake2b(32, message, plaintext.subarray(0, 32)))
  }

  open(payload, settings) {
    const now = seconds(options(settings, 'now').now)
    try {
      return this.#open(payload, now)
    } catch (error) {
      if (error instanceof OpenError) this.#failures.set(error.code, (this.#failures.get(error.code) ?? 0) + 1)
      throw error
    }
  }

  receipt(content, settings) {
    const { elapsedMilliseconds = 0, now } = options(settings, 'elapsedMilliseconds', 'now')
    const request = readRequest(content?.receipt)
    if (request === null) return undefined
    const counts = new Map(REASONS.map((code, index) => [index + 1, this.#failures.get(code) ?? 0]))
    this.#failures.clear()
    return make(request.key, request.id, content.id, seconds(now), elapsedMilliseconds, counts)
  }

  #open(payload, now) {
    const identities = [...this.#active, ...this.#retired]
    const device = { identities, senders: this.#senders(), topic: this.#topic, now, allowAnonymous: this.#allowAnonymous }
    const { content, envelope, identity, sender } = openField(fieldOf(payload), device)
    // The ledger's key (7.2), without the hash.
    const sealed = sender ? [sender, envelope.subarray(9, hpke.headerLength(identity.recipient))] : [envelope.subarray(5)]
    const entry = Buffer.concat([envelope.subarray(0, 1), identity.recipient, ...sealed]).toString('base64')
    if (this.#seen.has(entry)) throw new OpenError('replayed')
    this.#seen.add(entry)
    return content
  }

  get #enrollment() {
    return hpke.publicBytes(this.#secret)
  }

  #senders() {
    return this.trusting.map((each) => decode(SENDER, each))
  }

  [inspect.custom]() {
    return `Phone(${this.enrollment}, ${this.#topic}, ${this.#active.length} active)`
  }
}
