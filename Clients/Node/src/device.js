// A server's state for one device of one account (Specification 11.4, 11.5).

import { timingSafeEqual } from 'node:crypto'
import { inspect } from 'node:util'
import { ChallengeError, RecordError, SettingError } from './errors.js'
import { blake2b } from './protocol/blake2b.js'
import { decode, decodeRecipient, encode, encodeRecipient, ENROLLMENT, recipientText } from './protocol/key-text.js'
import { checkRecord, DEVICE, readLeaving, readRecord } from './protocol/records.js'
import { decodeBase64, encodeBase64, isTopic, options, seconds, unarmor } from './protocol/text.js'
import { isSender, makeChallenge } from './sender.js'

const LIFETIME = 600
const MOST_CHALLENGES = 16

export let isDevice

/** A device's pinned enrollment key, its newest record, and its proven keys. index.d.ts documents the members. */
export class Device {
  #enrollment
  #record
  #recipients
  #text
  #proven
  #challenges

  static {
    isDevice = (value) => typeof value === 'object' && value !== null && #enrollment in value
  }

  constructor(state) {
    if (typeof state !== 'object' || state === null) throw new RecordError('malformed-state')
    const { enrollment, record, proven = [], challenges = [] } = state
    if (!Array.isArray(proven) || !Array.isArray(challenges)) throw new RecordError('malformed-state')
    this.#enrollment = decode(ENROLLMENT, enrollment)
    this.#take(readRecord(DEVICE, record), record)
    if (!this.#record.signer.equals(this.#enrollment)) throw new RecordError('foreign-signer')
    const found = proven.map(recipientText)
    this.#proven = new Set(this.recipients.filter((each) => found.includes(each)))
    this.#challenges = challenges.map(readChallenge)
  }

  /** Keeps the texts of the keys, because a hybrid key's text is slow to make. */
  #take(record, text) {
    this.#record = record
    this.#recipients = record.keys.map(encodeRecipient)
    this.#text = text
  }

  static fromJSON(state) {
    return new Device(state)
  }

  static enroll(record, settings) {
    const { topic, now } = options(settings, 'topic', 'now')
    const read = readRecord(DEVICE, record)
    if (!isTopic(topic)) throw new SettingError('topic')
    checkRecord(read, read.signer, topic, undefined, seconds(now))
    return new Device({ enrollment: encode(ENROLLMENT, read.signer), record })
  }

  update(record, settings) {
    const now = seconds(options(settings, 'now').now)
    const newer = readRecord(DEVICE, record)
    checkRecord(newer, this.#enrollment, this.#record.topic, this.#record, now)
    const before = this.recipients
    this.#take(newer, record)
    const left = this.recipients
    this.#proven = new Set(left.filter((each) => this.#proven.has(each)))
    return before.filter((each) => !left.includes(each))
  }

  challenge(sender, settings) {
    const { recipient = this.unproven[0], now } = options(settings, 'recipient', 'now')
    const at = seconds(now)
    if (!isSender(sender)) throw new SettingError('sender')
    if (sender.topic !== this.topic) throw new SettingError('other-topic')
    if (recipient === undefined) throw new ChallengeError('nothing-to-ask')
    const key = decodeRecipient(recipient)
    if (!this.#record.keys.some((each) => each.equals(key))) throw new ChallengeError('not-in-record')
    const { text, answer } = makeChallenge(sender, key, this.#enrollment)
    const hash = blake2b(32, answer)
    answer.fill(0)
    const waiting = this.#challenges.filter((each) => each.expires >= at).slice(1 - MOST_CHALLENGES)
    this.#challenges = [...waiting, { recipient: recipientText(recipient), expires: at + LIFETIME, hash }]
    return text
  }

  answer(answer, settings) {
    const at = seconds(options(settings, 'now').now)
    const bytes = unarmor('pushanswer.', answer, 32, 32)
    if (bytes === null) throw new ChallengeError('malformed')
    const hash = blake2b(32, bytes)
    const found = this.#challenges.filter((each) => timingSafeEqual(each.hash, hash))[0]
    if (found === undefined) throw new ChallengeError('wrong-answer')
    if (!this.recipients.includes(found.recipient)) throw new ChallengeError('not-in-record')
    if (at > found.expires) throw new ChallengeError('late')
    this.#proven.add(found.recipient)
    return found.recipient
  }

  recipient(settings) {
    checkRecord(this.#record, this.#enrollment, this.topic, undefined, seconds(options(settings, 'now').now))
    const [newest] = this.proven
    if (newest === undefined) throw new RecordError('unproven')
    return newest
  }

  get enrollment() {
    return encode(ENROLLMENT, this.#enrollment)
  }

  get record() {
    return this.#text
  }

  get topic() {
    return this.#record.topic
  }

  get counter() {
    return this.#record.counter
  }

  get expires() {
    return this.#record.expires
  }

  get keeps() {
    return this.#record.keeps
  }

  get recipients() {
    return [...this.#recipients]
  }

  get proven() {
    return this.recipients.filter((each) => this.#proven.has(each))
  }

  get unproven() {
    return this.recipients.filter((each) => !this.#proven.has(each))
  }

  toJSON() {
    const challenges = this.#challenges.map((each) => ({ ...each, hash: encodeBase64(each.hash) }))
    return { enrollment: this.enrollment, record: this.record, proven: this.proven, challenges }
  }

  [inspect.custom]() {
    return `Device(${this.enrollment}, counter ${this.counter}, ${this.#proven.size} of ${this.recipients.length} proven)`
  }
}

/** A device's signed notice that it leaves its accounts at one service (EnrollmentHTTP 6). index.d.ts documents the members. */
export class Leaving {
  #enrollment
  #counter
  #topic
  #service

  constructor(text, settings) {
    const { topic, service = topic } = options(settings, 'topic', 'service')
    if (!isTopic(topic)) throw new SettingError('topic')
    if (!isTopic(service)) throw new SettingError('service')
    const { signer, counter } = readLeaving(text, topic, service)
    this.#enrollment = encode(ENROLLMENT, signer)
    this.#counter = counter
    this.#topic = topic
    this.#service = service
  }

  get enrollment() {
    return this.#enrollment
  }

  get counter() {
    return this.#counter
  }

  get topic() {
    return this.#topic
  }

  get service() {
    return this.#service
  }

  ends(device) {
    if (!isDevice(device)) throw new SettingError('device')
    return device.enrollment === this.#enrollment && device.topic === this.#topic && device.counter < this.#counter
  }

  [inspect.custom]() {
    return `Leaving(${this.#enrollment}, counter ${this.#counter})`
  }
}

/** Reads an open challenge. It contains only the answer's hash, so it can't be used to answer (11.5.7). */
function readChallenge(value) {
  if (typeof value !== 'object' || value === null) throw new RecordError('malformed-state')
  const { recipient, expires, hash } = value
  const bytes = decodeBase64(hash)
  if (bytes === null || bytes.length !== 32 || !Number.isInteger(expires)) throw new RecordError('malformed-state')
  return { recipient: recipientText(recipient), expires, hash: bytes }
}
