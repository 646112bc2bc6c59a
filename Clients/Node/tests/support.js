// What several tests share: the vectors' form, BLAKE2b, chance, and a phone.

import { spawnSync } from 'node:child_process'
import crypto, { createDecipheriv, createPrivateKey, createPublicKey, hkdfSync, randomBytes, randomInt, sign } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Device, SealedPushError } from 'sealed-push'
import { blake2b } from '../src/protocol/blake2b.js'
import * as hpke from '../src/protocol/hpke.js'
import { decode, encode, encodeRecipient, ENROLLMENT, SENDER } from '../src/protocol/key-text.js'
import { checksum, DEVICE, signedMessage } from '../src/protocol/records.js'
import { armour, decodeBase64 } from '../src/protocol/text.js'

export const TOPIC = 'com.example.app'
export const NINA = { alert: { title: 'Nina', body: 'Lunch at one?' } }
export const isThorough = process.env.THOROUGH === '1'

/** Whether this Node can seal to hybrid keys, found another way than `mlkem.js` does. */
export const hasMLKEM = (() => {
  try {
    return crypto.generateKeyPairSync('ml-kem-768') && 'encapsulate' in crypto
  } catch {
    return false
  }
})()

export const now = () => Math.floor(Date.now() / 1000)

export const VECTORS = new URL('../../../Tests/Vectors/', import.meta.url)

/** The values of each vector by its name (Specification, Appendix B). */
export function readVectors(folder) {
  const url = new URL(folder, VECTORS)
  const names = readdirSync(url).filter((name) => name.endsWith('.txt'))
  return names.map((name) => {
    const lines = readFileSync(new URL(name, url), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'))
    const pairs = lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])
    return [name.slice(0, -4), Object.fromEntries(pairs)]
  })
}

export const valuesOf = (values, name) =>
  Object.entries(values).filter(([each]) => each.replace(/\d+$/, '') === name).map(([, value]) => value)

/** BLAKE2b of Python's standard library: a second opinion. */
export function pythonsBlake2b(length, message, key = Buffer.alloc(0)) {
  const script = 'import hashlib, sys; d = sys.stdin.buffer.read(); n = d[0]; sys.stdout.buffer.write(hashlib.blake2b(d[1 + n:], digest_size=int(sys.argv[1]), key=d[1:1 + n]).digest())'
  const input = Buffer.concat([Buffer.of(key.length), key, message])
  const { status, stdout } = spawnSync('/usr/bin/python3', ['-I', '-S', '-c', script, String(length)], { input })
  if (status !== 0) throw new Error('python3 failed')
  return stdout
}

/** Chance whose seed a failure names; SEED=... in the environment takes it back. (mulberry32) */
export function seeded(context) {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 32))
  context.diagnostic(`SEED=${seed}`)
  let state = seed
  const next = (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return { next, pick: (list) => list[next(list.length)] }
}

/** The code of the error that a call throws; anything but an error of this package fails the test. */
export function codeOf(call) {
  try {
    call()
    return undefined
  } catch (error) {
    if (!(error instanceof SealedPushError) || !error.code || !error.hint || !error.message) throw error
    return error.code
  }
}

/** The private keys of both halves of a device's hybrid identity (3.8.2). Needs ML-KEM. */
export class HybridIdentity {
  constructor(seed = randomBytes(32)) {
    const expanded = hkdfSync('sha256', seed, '', 'sealedpush/v1 device ml-kem\0', 64)
    // PKCS #8 of an ML-KEM-768 key that is given by its seed.
    const key = Buffer.concat([Buffer.from('3054020100300b060960864801650304040204428040', 'hex'), Buffer.from(expanded)])
    this.mlkem = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    this.scalar = hpke.privateKey(hpke.derive(seed, 'sealedpush/v1 device scalar'))
    const encapsulationKey = createPublicKey(this.mlkem).export({ format: 'der', type: 'spki' }).subarray(-1184)
    this.recipient = Buffer.concat([encapsulationKey, hpke.publicBytes(this.scalar)])
  }
}

/** The public half of an identity: a private key, or a HybridIdentity. */
export const recipientOf = (identity) => identity.recipient ?? hpke.publicBytes(identity)

/** A device that has made its own keys, as the app's half does. */
export class Phone {
  counter = 0
  identities = []

  constructor(topic = TOPIC) {
    this.topic = topic
    this.secret = hpke.privateKey(randomBytes(32), 'ed25519')
    this.rotate()
  }

  get enrollment() {
    return hpke.publicBytes(this.secret)
  }

  get keys() {
    return this.identities.map(recipientOf)
  }

  get recipients() {
    return this.keys.map(encodeRecipient)
  }

  /** A new key, beside those that there are: the newest first. */
  rotate(identity = hpke.privateKey(randomBytes(32))) {
    this.identities.unshift(identity)
  }

  record({ counter = ++this.counter, created = now(), lifetime = 34560000, keys = this.keys, keeps } = {}) {
    this.counter = Math.max(this.counter, counter)
    return signRecord(this.secret, { counter, created, expires: created + lifetime, keeps, topic: this.topic, keys })
  }

  answer(challenge, sender) {
    const envelope = decodeBase64(challenge.slice('pushchallenge.'.length))
    const opened = openEnvelope(envelope, this.identities, sender, this.topic, hpke.CHALLENGE)
    if (opened === undefined) return undefined
    if (!opened.plaintext.subarray(32).equals(this.enrollment)) return 'foreign-enrollment'
    const message = Buffer.concat([Buffer.from('sealedpush/v1 answer\0'), opened.recipient, this.enrollment])
    return armour('pushanswer.', blake2b(32, message, opened.plaintext.subarray(0, 32)))
  }

  /** The content of a push; undefined where it does not open. */
  open(push, sender) {
    const { aps, 'custom-encrypted-message': field } = JSON.parse(push.payload)
    if (aps['mutable-content'] !== 1) return undefined
    const plaintext = openEnvelope(decodeBase64(field), this.identities, sender, this.topic)?.plaintext
    return plaintext && JSON.parse(plaintext.toString('utf8', 0, plaintext.lastIndexOf(0x80)))
  }
}

export function signRecord(secret, { type = DEVICE, counter, created, expires, keeps = type === DEVICE ? 30 : 0, topic, keys }) {
  const numbers = [counter, created, expires].map((number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(BigInt(number))
    return bytes
  })
  const unsigned = Buffer.concat([
    Buffer.of(type, 2), hpke.publicBytes(secret), ...numbers, Buffer.of(keeps, topic.length), Buffer.from(topic), Buffer.of(keys.length),
    ...keys.flatMap((key) => [Buffer.of(key.length === 32 ? 1 : 3), key]),
  ])
  const bytes = Buffer.concat([unsigned, sign(null, signedMessage(unsigned), secret)])
  return armour('pushrecord.', Buffer.concat([bytes, checksum(bytes)]))
}

/** What opens under one of the identities (3.4, 3.8): the plaintext, and for whom. */
export function openEnvelope(envelope, identities, sender, topic, purpose = hpke.MESSAGE) {
  const from = decode(SENDER, sender)
  const enc = envelope.subarray(9, 41)
  for (const identity of identities) {
    const [recipient, scalar] = [recipientOf(identity), identity.scalar ?? identity]
    const header = envelope.subarray(0, hpke.headerLength(recipient))
    if (!hpke.hints(enc, recipient, from).equals(header.subarray(1, 9))) continue
    const dh = hpke.agreed([scalar, hpke.publicKey(enc)], [scalar, hpke.publicKey(from)])
    const pskID = header.subarray(53)
    const psk = identity.mlkem && crypto.decapsulate(identity.mlkem, pskID)
    const { key, baseNonce } = hpke.keySchedule(dh, enc, recipient, from, topic, purpose, psk, pskID)
    const nonce = hpke.nonce(baseNonce, header.subarray(41, 53))
    const cipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 })
    cipher.setAAD(header, { plaintextLength: envelope.length - hpke.overhead(recipient) })
    cipher.setAuthTag(envelope.subarray(-16))
    try {
      return { plaintext: Buffer.concat([cipher.update(envelope.subarray(header.length, -16)), cipher.final()]), recipient }
    } catch {
      continue
    }
  }
  return undefined
}

/** A phone, and what the server has of it once it is proven. */
export function enrolled(sender, phone = new Phone()) {
  const device = Device.enroll(phone.record(), { topic: phone.topic })
  device.answer(phone.answer(device.challenge(sender), sender.publicKey))
  return { phone, device }
}

export const enrollmentOf = (phone) => encode(ENROLLMENT, phone.enrollment)
