// Hybrid keys (Specification 3.8). On a Node without ML-KEM, these tests check that it refuses them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { Device, generateSenderSecret, Sender, TooLargeError } from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import * as keyText from '../src/protocol/key-text.js'
import { privateKey } from '../src/protocol/hpke.js'
import { isAvailable } from '../src/protocol/mlkem.js'
import { DEVICE, signRecord } from '../src/protocol/records.js'
import { decodeBase64 } from '../src/protocol/text.js'
import { codeOf, enrolled, hasMLKEM, NINA, now, phoneOf, readVectors, TOPIC } from './support.js'

const vectors = Object.fromEntries(readVectors('Hybrid/'))
const { recipient } = vectors['good-plain']
const key = keyText.decode(keyText.HYBRID_RECIPIENT, recipient)
const sender = new Sender(generateSenderSecret(), { topic: TOPIC })
const envelopeOf = (push) => decodeBase64(push.message['custom-encrypted-message'])

const hybridPhone = () => new Phone({ topic: TOPIC, trusting: [sender.publicKey], hybrid: true })

/** A test that needs ML-KEM. Without ML-KEM, tests that each function refuses a hybrid key. */
function itWithMLKEM(name, test) {
  if (hasMLKEM) return it(name, test)
  it(`${name}: refused without ML-KEM`, () => {
    assert.equal(codeOf(() => sender.sealUnverified(NINA, recipient)), 'unsupported')
    assert.equal(codeOf(() => sender.sealUnverified(NINA, recipient.toUpperCase())), 'unsupported')
    const secret = randomBytes(32)
    const { device } = enrolled(sender, new Phone({ topic: TOPIC, enrollmentSecret: keyText.encode(keyText.ENROLLMENT_SECRET, secret) }))
    const before = JSON.stringify(device)
    const fields = { counter: 2, created: now(), expires: device.expires, keeps: 30, topic: TOPIC, keys: [key] }
    const record = signRecord(DEVICE, privateKey(secret, 'ed25519'), fields)
    assert.equal(codeOf(() => Device.enroll(record, { topic: TOPIC })), 'unsupported')
    assert.equal(codeOf(() => device.update(record)), 'unsupported')
    assert.equal(codeOf(() => device.challenge(sender, { recipient })), 'unsupported')
    assert.equal(codeOf(() => Device.fromJSON({ ...device.toJSON(), proven: [recipient] })), 'unsupported')
    assert.equal(JSON.stringify(device), before)
  })
}

describe('A hybrid key', () => {
  it('is accepted if node:crypto has ML-KEM; otherwise the error names the requirement', () => {
    assert.equal(isAvailable, hasMLKEM)
    // Run as on an older Node.
    const script = `
      import crypto from 'node:crypto'
      delete crypto.encapsulate
      const { Device, generateSenderSecret, Sender } = await import('sealed-push')
      const sender = new Sender(generateSenderSecret(), { topic: '${TOPIC}' })
      const calls = [() => sender.sealUnverified({ alert: { body: 'b' } }, '${recipient}'), () => Device.enroll('${vectors.record.record}', { topic: '${TOPIC}' })]
      for (const call of calls) {
        try { call() } catch (error) { console.log(error.name, error.code, error.message) }
      }`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: new URL('..', import.meta.url), encoding: 'utf8' })
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(lines.map((line) => line.split(' ', 2)), [['KeyTextError', 'unsupported'], ['RecordError', 'unsupported']])
    for (const line of lines) assert.match(line, /ML-KEM.*Node 24\.7/)
  })

  it('is read from text, and refused by Specification 3.8.2', () => {
    assert.equal(recipient.length, 1634)
    assert.equal(keyText.encodeRecipient(key), recipient)
    const code = (text, kind = keyText.HYBRID_RECIPIENT) => codeOf(() => keyText.decode(kind, text))
    assert.equal(code(recipient.toUpperCase()), 'wrong-case')
    assert.equal(code(recipient, keyText.RECIPIENT), 'not-a-key')
    assert.equal(code(new Phone({ topic: TOPIC }).recipients[0]), 'wrong-kind')
    for (const text of [recipient + 'q', recipient.slice(0, -1), recipient + '=']) assert.equal(code(text), 'not-a-key')
    assert.equal(code(recipient.slice(0, -7) + (recipient.at(-7) === 'q' ? 'p' : 'q') + recipient.slice(-6)), 'wrong-checksum')
    assert.equal(codeOf(() => sender.sealUnverified(NINA, ` ${recipient}`)), 'white-space')
    const changed = (change) => {
      const bytes = Buffer.from(key)
      change(bytes)
      return bytes
    }
    // 3328 is the largest valid coefficient. Checks both of a group of three bytes, in the first and the last group.
    const largest = [0, 1149].map((at) => changed((bytes) => bytes.set([0x00, 0x0d, 0xd0], at)))
    for (const bytes of largest) assert.equal(codeOf(() => keyText.encode(keyText.HYBRID_RECIPIENT, bytes)), undefined)
    const wrong = [0, 1149].flatMap((at) => [[0x01, 0x0d, 0xd0], [0x00, 0x1d, 0xd0]].map((group) => changed((bytes) => bytes.set(group, at))))
    wrong.push(changed((bytes) => bytes.fill(0, 1184)), key.subarray(1), Buffer.concat([key, Buffer.of(0)]))
    for (const bytes of wrong) assert.equal(codeOf(() => keyText.encode(keyText.HYBRID_RECIPIENT, bytes)), 'refused-key')
  })

  itWithMLKEM('answers the challenge of the vectors', () => {
    const { challenge, record } = vectors
    const phone = phoneOf({ ...challenge, 'enrollment-secret': record['signer-secret'] })
    assert.deepEqual(phone.recipients, [recipient])
    assert.equal(phone.enrollment, challenge.enrollment)
    assert.equal(phone.answer(challenge.challenge), challenge.answer)
  })

  itWithMLKEM('is proven, is sealed to, and replaces an X25519 key in a rotation', () => {
    const { phone, device } = enrolled(sender)
    const [classical] = phone.recipients
    phone.rotate({ hybrid: true })
    const [hybrid] = phone.recipients
    assert.deepEqual(device.update(phone.record), [])
    assert.equal(device.recipient(), classical)
    const question = device.challenge(sender)
    assert.equal(envelopeOf({ message: { 'custom-encrypted-message': question.split('.')[1] } }).length, 1221)
    assert.equal(device.answer(phone.answer(question)), hybrid)
    const again = Device.fromJSON(JSON.parse(JSON.stringify(device)))
    assert.deepEqual(again.toJSON(), device.toJSON())
    assert.deepEqual(again.proven, [hybrid, classical])
    const push = sender.seal(NINA, again)
    assert.equal(push.recipient, hybrid)
    assert.deepEqual(phone.open(push.payload).alert, NINA.alert)
    phone.retire()
    assert.deepEqual(again.update(phone.record), [classical])
  })

  itWithMLKEM('can be in a record with five others', () => {
    const phone = hybridPhone()
    while (phone.recipients.length < 6) phone.rotate({ hybrid: true })
    assert.equal(Device.enroll(phone.record, { topic: TOPIC }).recipients.length, 6)
    phone.rotate({ hybrid: true })
    assert.equal(codeOf(() => Device.enroll(phone.record, { topic: TOPIC })), 'malformed')
  })

  itWithMLKEM('has a new encapsulation for each message', () => {
    const envelopes = [1, 2, 3].map(() => envelopeOf(sender.sealUnverified(NINA, recipient)))
    for (const [start, end] of [[9, 41], [41, 53], [53, 1141]]) {
      assert.equal(new Set(envelopes.map((each) => each.toString('hex', start, end))).size, 3)
    }
  })

  itWithMLKEM('takes 1,088 bytes of a push, and its bucket is 1,792', () => {
    const [phone, padded] = [hybridPhone(), (padding) => new Sender(generateSenderSecret(), { topic: TOPIC, padding })]
    const base = { id: '5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09', topic: TOPIC, sent: 0, alert: { body: '' } }
    const lengths = { buckets: [256, 512, 1024, 1792, 1845], none: [201, 401, 901, 1501, 1845], full: Array(5).fill(1845) }
    for (const [padding, expected] of Object.entries(lengths)) {
      const made = padded(padding)
      const largest = made.maxContentBytes - 1088
      const pushOf = (length) => {
        const body = 'x'.repeat(length - Buffer.byteLength(JSON.stringify(base)))
        return made.sealUnverified({ ...base, alert: { body } }, phone.recipients[0])
      }
      const pushes = [200, 400, 900, 1500, largest].map(pushOf)
      assert.deepEqual(pushes.map((push) => envelopeOf(push).length - 1157), expected)
      assert.equal(pushes.at(-1).payload.length, 4096)
      phone.trusting = [made.publicKey]
      assert.ok(phone.open(pushes.at(-1).payload, { now: 0 }))
      assert.throws(() => pushOf(largest + 3), (error) => error instanceof TooLargeError && error.excess === 3)
    }
  })

  itWithMLKEM('opens neither altered messages nor those for another key', () => {
    const phone = hybridPhone()
    const envelope = envelopeOf(sender.sealUnverified(NINA, phone.recipients[0]))
    const code = (each = phone) => codeOf(() => each.open({ 'custom-encrypted-message': envelope.toString('base64url') }))
    assert.equal(envelope[0], 3)
    assert.equal(code(hybridPhone()), 'unknown-recipient')
    for (let index = 0; index < envelope.length; index += 1) {
      envelope[index] ^= 1
      const codes = ['malformed', 'unknown-suite', 'unknown-recipient', 'unknown-sender', 'rejected', 'anonymous-not-allowed']
      assert.ok(codes.includes(code()), `byte ${index}`)
      envelope[index] ^= 1
    }
    assert.equal(code(), undefined)
    assert.equal(code(), 'replayed')
  })
})

describe('requireHybrid', () => {
  const strict = new Sender(generateSenderSecret(), { topic: TOPIC, requireHybrid: true })

  it('refuses X25519 keys, which can still be challenged', () => {
    const { phone, device } = enrolled(strict)
    assert.equal(codeOf(() => strict.seal(NINA, device)), 'not-hybrid')
    assert.equal(codeOf(() => strict.sealUnverified(NINA, phone.recipients[0])), 'not-hybrid')
    for (const requireHybrid of [undefined, false]) {
      const other = new Sender(generateSenderSecret(), { topic: TOPIC, requireHybrid })
      phone.trusting = [other.publicKey]
      assert.ok(phone.open(other.seal(NINA, device).payload))
    }
    for (const requireHybrid of [null, 1, 'true']) assert.equal(codeOf(() => new Sender(generateSenderSecret(), { topic: TOPIC, requireHybrid })), 'require-hybrid')
  })

  it('leaves as much room in a push as a hybrid key', () => {
    assert.equal(strict.maxContentBytes, sender.maxContentBytes - 1088)
  })

  itWithMLKEM('seals once the newest proven key is hybrid', () => {
    const { phone, device } = enrolled(strict)
    phone.rotate({ hybrid: true })
    device.update(phone.record)
    assert.equal(codeOf(() => strict.seal(NINA, device)), 'not-hybrid')
    device.answer(phone.answer(device.challenge(strict)))
    assert.ok(phone.open(strict.seal(NINA, device).payload))
    assert.ok(phone.open(strict.sealUnverified(NINA, phone.recipients[0]).payload))
    const base = { id: '5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09', topic: TOPIC, sent: 0, alert: { body: '' } }
    const room = strict.maxContentBytes - Buffer.byteLength(JSON.stringify(base))
    const full = strict.sealUnverified({ ...base, alert: { body: 'x'.repeat(room) } }, phone.recipients[0])
    assert.equal(full.payload.length, 4096)
  })
})
