// Tests of the phone in sealed-push/testing. vectors.test.js tests it with each vector; sender.test.js and hybrid.test.js flip bits.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { generateSenderSecret, Sender } from 'sealed-push'
import { OpenError, Phone } from 'sealed-push/testing'
import { encode, IDENTITY } from '../src/protocol/key-text.js'
import { codeOf, enrolled, hasMLKEM, NINA, now, TOPIC } from './support.js'

const at = now()
const secret = generateSenderSecret()
const sender = new Sender(secret, { topic: TOPIC })

describe('Phone', () => {
  it('opens each form of a payload once', () => {
    const { phone, device } = enrolled(sender)
    for (const form of [(each) => each, String, JSON.parse]) {
      const payload = form(sender.seal(NINA, device).payload)
      assert.deepEqual(phone.open(payload).alert, NINA.alert)
      assert.throws(() => phone.open(payload), (error) => error instanceof OpenError && error.code === 'replayed')
    }
    const field = 'custom-encrypted-message'
    for (const wrong of [Buffer.alloc(0), Buffer.of(255), '', '{}', '[]', {}, undefined, null, 7, { [field]: null }, { [field]: 7 }]) {
      assert.equal(codeOf(() => phone.open(wrong)), 'malformed', inspect(wrong))
    }
    assert.equal(codeOf(() => phone.open('{}', { now: 'now' })), 'now')
  })

  it('opens within the times of the Specification', () => {
    const { phone, device } = enrolled(sender)
    for (const [content, earliest, latest, code] of [
      [{ sent: at }, at - 93600, at + 30 * 86400, 'too-old'], [{ sent: at, expires: at + 60 }, at - 93600, at + 660, 'expired'],
    ]) {
      const { payload } = sender.seal({ ...NINA, ...content }, device, { now: at })
      assert.equal(codeOf(() => phone.open(payload, { now: earliest - 1 })), 'clock')
      assert.equal(codeOf(() => phone.open(payload, { now: latest + 1 })), code)
      assert.ok(phone.open(payload, { now: latest }))
      assert.ok(phone.open(sender.seal({ ...NINA, ...content }, device, { now: at }).payload, { now: earliest }))
    }
  })

  it('opens neither cut payloads nor those of a sender that it no longer trusts', () => {
    const { phone, device } = enrolled(sender)
    const { payload } = sender.seal(NINA, device)
    for (let length = 0; length < payload.length; length += 1) {
      assert.equal(codeOf(() => phone.open(payload.subarray(0, length))), 'malformed', `cut at ${length}`)
    }
    const field = JSON.parse(payload)['custom-encrypted-message']
    for (let length = 0; length < field.length; length += 1) {
      assert.ok(codeOf(() => phone.open({ 'custom-encrypted-message': field.slice(0, length) })), `cut at ${length}`)
    }
    phone.trusting = []
    assert.equal(codeOf(() => phone.open(payload)), 'unknown-sender')
    assert.equal(codeOf(() => phone.answer(device.challenge(sender, { recipient: device.recipient() }))), 'unknown-sender')
    phone.trusting = [sender.publicKey]
    assert.ok(phone.open(payload))
  })

  it('opens messages to a retired key that are sent within two hours, and refuses its challenges', () => {
    const { phone, device } = enrolled(sender)
    const old = device.recipient()
    const question = device.challenge(sender, { recipient: old })
    phone.rotate()
    device.update(phone.record)
    device.answer(phone.answer(device.challenge(sender)))
    phone.retire({ now: at })
    assert.deepEqual(device.update(phone.record), [old])
    assert.equal(codeOf(() => phone.answer(question)), 'unknown-recipient')
    for (const [sent, code] of [[at + 7200, undefined], [at + 7201, 'key-retired']]) {
      assert.equal(codeOf(() => phone.open(sender.sealUnverified({ ...NINA, sent }, old).payload)), code)
    }
    assert.ok(phone.open(sender.seal(NINA, device).payload))
  })

  it('makes hybrid keys on request if there is ML-KEM', () => {
    if (!hasMLKEM) return assert.equal(codeOf(() => new Phone({ topic: TOPIC, hybrid: true })), 'unsupported')
    const { phone, device } = enrolled(sender, new Phone({ topic: TOPIC, hybrid: true }))
    assert.ok(phone.open(sender.seal(NINA, device).payload))
    assert.match(phone.rotate({ hybrid: false }), /^push1/)
    assert.match(phone.rotate(), /^pushpq\./)
  })

  it('refuses wrong settings, and shows no secret', () => {
    for (const [code, settings] of Object.entries({
      topic: { topic: 'a b' }, 'not-a-key': { topic: TOPIC, trusting: sender.publicKey }, options: { topic: TOPIC, trust: [] },
      'wrong-kind': { topic: TOPIC, trusting: [secret] }, 'not-given': { topic: TOPIC, identities: [null] },
    })) {
      assert.equal(codeOf(() => new Phone(settings)), code)
    }
    assert.equal(codeOf(() => new Phone()), 'topic')
    for (const keeps of [null, 0, 32, 1.5, '30', 30n, Symbol('30'), {}]) {
      assert.equal(codeOf(() => new Phone({ topic: TOPIC, keeps })), 'keeps')
    }
    const phone = new Phone({ topic: TOPIC, trusting: [sender.publicKey] })
    assert.equal(inspect(phone), `Phone(${phone.enrollment}, ${TOPIC}, 1 active)`)
    assert.deepEqual(Object.keys(phone), ['trusting'])
  })

  it('opens pushes of Clients/Python, whose phone opens pushes of this client', (context) => {
    const phone = new Phone({ topic: TOPIC, trusting: [sender.publicKey] })
    const identity = encode(IDENTITY, randomBytes(32))
    const [theirs] = new Phone({ topic: TOPIC, identities: [identity] }).recipients
    const script = `
import sys
sys.path.insert(0, "../Python/src")
try:
    from sealed_push import Sender
    from sealed_push.testing import Phone
except ImportError:
    sys.exit(3)
secret, recipient, identity = sys.argv[1:]
sender = Sender(secret, topic="${TOPIC}")
phone = Phone(topic="${TOPIC}", trusting=[sender.public_key], identities=[identity])
print(phone.open(sys.stdin.read())["alert"]["title"])
print(sender.seal_unverified({"alert": {"title": "Pia"}}, recipient).payload.decode())`
    const { status, stdout, stderr } = spawnSync('/usr/bin/python3', ['-B', '-c', script, secret, phone.recipients[0], identity], {
      cwd: new URL('..', import.meta.url), encoding: 'utf8', input: sender.sealUnverified(NINA, theirs).payload,
    })
    if (status === 3) return context.skip('needs PyNaCl and cryptography')
    assert.equal(status, 0, stderr)
    const [title, payload] = stdout.split('\n')
    assert.equal(title, 'Nina')
    assert.equal(phone.open(payload).alert.title, 'Pia')
  })
})
