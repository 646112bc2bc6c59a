import assert from 'node:assert/strict'
import { createHash, randomBytes, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { Device, generateSenderSecret, Leaving, Sender } from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import { decode, encode, ENROLLMENT, isPublicKey, RECIPIENT, SENDER, SENDER_SECRET } from '../src/protocol/key-text.js'
import { privateKey, publicBytes, publicKey } from '../src/protocol/hpke.js'
import { isOfLowOrder, isSigningKey } from '../src/protocol/points.js'
import { checksum, DEVICE, signedMessage, signRecord } from '../src/protocol/records.js'
import { armor, decodeBase64 } from '../src/protocol/text.js'
import { codeOf, enrolled, isThorough, NINA, now, seeded, TOPIC } from './support.js'

const sender = new Sender(generateSenderSecret(), { topic: TOPIC })
const at = now()
const newPhone = () => new Phone({ topic: TOPIC, trusting: [sender.publicKey] })

/** Returns the device from its JSON, as a server stores it. */
function stored(device) {
  const again = Device.fromJSON(JSON.parse(JSON.stringify(device)))
  assert.deepEqual(again.toJSON(), device.toJSON())
  return again
}

describe('Device', () => {
  it('enrolls, proves its key, rotates, and forgets removed keys', () => {
    const phone = newPhone()
    let device = stored(Device.enroll(phone.record, { topic: TOPIC }))
    assert.equal(device.enrollment, phone.enrollment)
    assert.deepEqual([device.unproven, device.proven], [phone.recipients, []])
    const question = device.challenge(sender)
    device = stored(device)
    const answer = phone.answer(question)
    assert.equal(device.answer(answer), phone.recipients[0])
    assert.equal(device.answer(answer), phone.recipients[0])
    device = stored(device)
    assert.equal(codeOf(() => device.challenge(sender)), 'nothing-to-ask')

    // Rotation: the new key is used once it is proven, and the next record drops the old one.
    const [first] = phone.recipients
    phone.rotate()
    assert.deepEqual(device.update(phone.record), [])
    device = stored(device)
    assert.equal(device.recipient(), first)
    assert.deepEqual(device.unproven, [phone.recipients[0]])
    device.answer(phone.answer(device.challenge(sender)))
    assert.equal(device.recipient(), phone.recipients[0])
    phone.retire()
    assert.deepEqual(device.update(phone.record), [first])
    device = stored(device)
    assert.ok(phone.open(sender.seal(NINA, device).payload))

    // A key that comes back must be proven again.
    device.update(phone.signRecord({ recipients: newPhone().recipients }))
    device.update(phone.signRecord())
    assert.deepEqual(device.proven, [])
    assert.equal(codeOf(() => device.recipient()), 'unproven')
  })

  it('leaves once, and can come back', () => {
    const { phone, device } = enrolled(sender)
    const inTransit = sender.seal(NINA, device)
    const leaving = new Leaving(phone.leave(), { topic: TOPIC })
    assert.ok(leaving.ends(stored(device)))
    assert.ok(!leaving.ends(enrolled(sender).device))
    assert.equal(codeOf(() => phone.open(inTransit.payload)), 'unknown-recipient')
    const again = stored(enrolled(sender, phone).device)
    assert.ok(!leaving.ends(again))
    assert.ok(phone.open(sender.seal(NINA, again).payload))
    const text = phone.leave()
    const code = (wrong, topic = TOPIC) => codeOf(() => new Leaving(wrong, { topic }))
    assert.ok(new Leaving(text, { topic: TOPIC }).ends(again))
    for (let index = 0; index < text.length; index += 1) {
      const flipped = text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
      for (const wrong of [flipped, text.slice(0, index), index ? text.slice(index) : `${text}A`]) {
        assert.ok(['malformed', 'bad-signature'].includes(code(wrong)), `${index}`)
      }
    }
    assert.equal(code(text, 'com.example.other'), 'bad-signature')
    const staging = phone.leave({ service: 'staging' })
    assert.equal(new Leaving(staging, { topic: TOPIC, service: 'staging' }).service, 'staging')
    assert.equal(code(staging), 'other-service')
    assert.equal(codeOf(() => new Leaving(text, { topic: TOPIC, service: 'staging' })), 'other-service')
    for (const service of [null, '', 'a b', 'x'.repeat(156)]) {
      assert.equal(codeOf(() => new Leaving(text, { topic: TOPIC, service })), 'service')
      assert.equal(codeOf(() => phone.leave({ service })), 'service')
    }
    for (const topic of [null, '', 'a b', 'x'.repeat(156)]) assert.equal(code(text, topic), 'topic')
    for (const wrong of [undefined, null, 7, Buffer.from(text), 'pushleaving.', phone.record]) assert.equal(code(wrong), 'malformed')
    assert.equal(codeOf(() => leaving.ends(again.toJSON())), 'device')
    assert.equal(inspect(leaving), `Leaving(${phone.enrollment}, counter ${leaving.counter})`)
  })

  it('is not changed by a record that it refuses', () => {
    const phone = newPhone()
    const device = Device.enroll(phone.signRecord({ counter: 7 }), { topic: TOPIC })
    const before = device.toJSON()
    const refused = (code, call) => assert.equal(codeOf(call), code)
    assert.deepEqual(device.update(before.record), [])
    refused('rolled-back', () => device.update(phone.signRecord({ counter: 6 })))
    refused('conflicting', () => device.update(phone.signRecord({ counter: 7, lifetime: 99 })))
    refused('foreign-signer', () => device.update(newPhone().signRecord({ counter: 8 })))
    refused('expired', () => device.update(phone.signRecord({ counter: 8, created: at - 100, lifetime: 50 })))
    refused('not-yet-valid', () => device.update(phone.signRecord({ counter: 8, created: at + 100000 })))
    refused('malformed', () => device.update(undefined))
    const senders = { counter: 9, created: at, expires: at + 9, keeps: 0, topic: TOPIC, keys: [decode(SENDER, sender.publicKey)] }
    refused('wrong-type', () => device.update(signRecord(2, privateKey(randomBytes(32), 'ed25519'), senders)))
    refused('other-topic', () => Device.enroll(new Phone({ topic: 'com.example.other' }).record, { topic: TOPIC }))
    refused('topic', () => Device.enroll(phone.record))
    assert.deepEqual(device.toJSON(), before)
  })

  it('accepts an answer in time, and only for a key that is still in the record', () => {
    const phone = newPhone()
    const device = Device.enroll(phone.record, { topic: TOPIC })
    const question = device.challenge(sender, { now: at })
    const answer = phone.answer(question)
    assert.equal(codeOf(() => device.answer(answer, { now: at + 601 })), 'late')
    for (const wrong of [answer.slice(0, -1), answer + 'A', question, '', undefined, 7, answer.replace('push', 'Push')]) {
      assert.equal(codeOf(() => device.answer(wrong)), 'malformed')
    }
    assert.equal(codeOf(() => device.answer('pushanswer.' + 'A'.repeat(43), { now: at })), 'wrong-answer')
    assert.deepEqual(device.proven, [])
    // The stored state doesn't contain the answer.
    assert.ok(!JSON.stringify(device).includes(answer.slice('pushanswer.'.length)))
    device.answer(answer, { now: at + 600 })

    phone.rotate()
    device.update(phone.record)
    const late = phone.answer(device.challenge(sender))
    device.update(phone.signRecord({ recipients: phone.recipients.slice(1) }))
    assert.equal(codeOf(() => device.answer(late)), 'not-in-record')
    assert.equal(codeOf(() => device.challenge(sender, { recipient: newPhone().recipients[0] })), 'not-in-record')
    assert.equal(codeOf(() => device.challenge(new Sender(generateSenderSecret(), { topic: 'a.b' }))), 'other-topic')
    assert.equal(codeOf(() => device.challenge(undefined)), 'sender')
  })

  it("can't prove a key that belongs to another device (11.5.4)", () => {
    const [alice, mallory] = [newPhone(), newPhone()]
    const device = Device.enroll(mallory.signRecord({ recipients: alice.recipients }), { topic: TOPIC })
    const question = device.challenge(sender)
    assert.equal(codeOf(() => alice.answer(question)), 'foreign-enrollment')
    assert.equal(codeOf(() => mallory.answer(question)), 'unknown-recipient')
  })

  it('keeps sixteen challenges, and drops late ones', () => {
    const phone = newPhone()
    const device = Device.enroll(phone.record, { topic: TOPIC })
    const questions = Array.from({ length: 17 }, () => device.challenge(sender, { now: at }))
    assert.equal(device.toJSON().challenges.length, 16)
    assert.equal(codeOf(() => device.answer(phone.answer(questions[0]), { now: at })), 'wrong-answer')
    device.answer(phone.answer(questions[1]), { now: at })
    device.challenge(sender, { recipient: phone.recipients[0], now: at + 601 })
    assert.equal(device.toJSON().challenges.length, 1)
  })

  it('loads a stored state, and nothing else', () => {
    const { phone, device } = enrolled(sender)
    const state = device.toJSON()
    const stranger = newPhone()
    const loaded = Device.fromJSON({ ...state, proven: [...state.proven, ...stranger.recipients] })
    assert.deepEqual(loaded.proven, device.proven)
    // It isn't proven either when a record names it later.
    loaded.update(phone.signRecord({ recipients: [...stranger.recipients, ...phone.recipients] }))
    assert.deepEqual(loaded.unproven, stranger.recipients)
    // A key in capitals is the same key.
    device.challenge(sender, { recipient: state.proven[0].toUpperCase() })
    const { challenges } = device.toJSON()
    assert.equal(challenges[0].recipient, state.proven[0])
    const capitals = challenges.map((each) => ({ ...each, recipient: each.recipient.toUpperCase() }))
    assert.deepEqual(Device.fromJSON({ ...state, proven: [state.proven[0].toUpperCase()], challenges: capitals }).toJSON(), device.toJSON())
    const refused = (code, change) => assert.equal(codeOf(() => Device.fromJSON({ ...state, ...change })), code)
    refused('foreign-signer', { enrollment: stranger.enrollment })
    refused('malformed-state', { proven: state.proven[0] })
    refused('malformed-state', { challenges: [1] })
    refused('malformed-state', { challenges: [{ recipient: state.proven[0], expires: '1', hash: 'A'.repeat(43) }] })
    refused('not-given', { enrollment: undefined })
    for (const wrong of [undefined, null, 7, 'x', JSON.stringify(state)]) {
      assert.ok(['malformed-state', 'not-given'].includes(codeOf(() => Device.fromJSON(wrong))))
    }
    const ended = Device.fromJSON({ ...state, record: phone.signRecord({ created: at - 100, lifetime: 50 }) })
    assert.equal(codeOf(() => ended.recipient()), 'expired')
  })
})

describe('A record', () => {
  it('is refused if R of its signature is of low order, although the equation holds (11.2.3)', () => {
    const seed = randomBytes(32)
    const secret = privateKey(seed, 'ed25519')
    const keys = newPhone().recipients.map((each) => decode(RECIPIENT, each))
    const text = signRecord(DEVICE, secret, { counter: 1, created: at, expires: at + 86400, keeps: 30, topic: TOPIC, keys })
    const unsigned = decodeBase64(text.slice('pushrecord.'.length)).subarray(0, -68)
    const number = (bytes) => BigInt('0x' + Buffer.from(bytes).reverse().toString('hex'))
    const hash = (...parts) => createHash('sha512').update(Buffer.concat(parts)).digest()
    const scalar = hash(seed).subarray(0, 32)
    scalar[0] &= 248
    scalar[31] = (scalar[31] & 127) | 64
    const [message, signer] = [signedMessage(unsigned), publicBytes(secret)]
    // S is r plus k times the secret scalar (RFC 8032, 5.1.6).
    const signature = (r, R) => {
      const S = (r + number(hash(R, signer, message)) * number(scalar)) % (2n ** 252n + 27742317777372353535851937790883648493n)
      return Buffer.concat([R, Buffer.from(S.toString(16).padStart(64, '0'), 'hex').reverse()])
    }
    // The formula makes signatures that verify. With r = 0, R is the identity, which OpenSSL 3.0 accepts and 3.5 refuses.
    assert.ok(verify(null, message, publicKey(signer, 'ed25519'), signature(number(scalar), signer)))
    const bytes = Buffer.concat([unsigned, signature(0n, Buffer.concat([Buffer.of(1), Buffer.alloc(31)]))])
    const forged = armor('pushrecord.', Buffer.concat([bytes, checksum(bytes)]))
    assert.equal(codeOf(() => Device.enroll(forged, { topic: TOPIC })), 'bad-signature')
    assert.equal(codeOf(() => Device.enroll(text, { topic: TOPIC })), undefined)
  })

  it('may list keys of unknown algorithms, which are skipped', () => {
    const secret = privateKey(randomBytes(32), 'ed25519')
    const [old, next] = [newPhone(), newPhone()].map((phone) => decode(RECIPIENT, phone.recipients[0]))
    const record = (counter, ...keys) =>
      signRecord(DEVICE, secret, { counter, created: at, expires: at + 86400, keeps: 30, topic: TOPIC, keys })
    const device = Device.enroll(record(1, [9, Buffer.alloc(1568)], old), { topic: TOPIC })
    assert.deepEqual(device.recipients, [encode(RECIPIENT, old)])
    const newer = record(2, next, old, [9, Buffer.of(1)])
    assert.deepEqual(device.update(newer), [])
    assert.equal(device.record, newer)
    assert.deepEqual(device.unproven, [next, old].map((key) => encode(RECIPIENT, key)))
    assert.deepEqual(device.update(newer), [])
    assert.equal(codeOf(() => device.update(record(2, next, old, [9, Buffer.of(2)]))), 'conflicting')
    assert.equal(codeOf(() => device.update(record(3, [9, Buffer.of(1)]))), 'unsupported')
  })

  it('is refused with any bit flipped, even with a correct checksum, and cut at any length', () => {
    const phone = newPhone()
    const record = phone.record
    const bytes = decodeBase64(record.slice('pushrecord.'.length)).subarray(0, -4)
    const again = (changed) => armor('pushrecord.', Buffer.concat([changed, checksum(changed)]))
    assert.equal(again(bytes), record)
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] ^= 1 << (bit & 7)
      assert.ok(['malformed', 'wrong-type', 'unsupported', 'bad-signature'].includes(codeOf(() => Device.enroll(again(changed), { topic: TOPIC }))), `bit ${bit}`)
    }
    for (let length = 0; length < record.length; length += 1) {
      assert.ok(codeOf(() => Device.enroll(record.slice(0, length), { topic: TOPIC })), `cut at ${length}`)
      const flipped = record.slice(0, length) + (record[length] === 'A' ? 'B' : 'A') + record.slice(length + 1)
      assert.ok(codeOf(() => Device.enroll(flipped, { topic: TOPIC })), `character ${length}`)
    }
    // Texts other than records have at most 4,096 characters (2.5).
    assert.deepEqual([4096, 4098].map((length) => decodeBase64('A'.repeat(length))?.length), [3072, undefined])
  })
})

describe('Public keys', () => {
  it('are refused by Specification 3.3 and 8.6', () => {
    const hex = (text) => Buffer.from(text, 'hex')
    assert.ok(isPublicKey(decode(RECIPIENT, newPhone().recipients[0])))
    for (const wrong of ['ed' + 'ff'.repeat(30) + '7f', 'ee' + 'ff'.repeat(30) + '7f', '09' + '00'.repeat(30) + '80', '00'.repeat(32), '01' + '00'.repeat(31), '09']) {
      assert.ok(!isPublicKey(hex(wrong)), wrong)
    }
    // The eight points of low order, and encodings that aren't canonical.
    const low = [
      '01' + '00'.repeat(31), 'ec' + 'ff'.repeat(30) + '7f', '00'.repeat(32), '00'.repeat(31) + '80',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    ]
    for (const point of low) assert.ok(!isSigningKey(hex(point)) && isOfLowOrder(hex(point)), point)
    for (const wrong of ['ee' + 'ff'.repeat(30) + '7f', '02' + '00'.repeat(31), '01' + '00'.repeat(30) + '80']) assert.ok(!isSigningKey(hex(wrong)), wrong)
    const good = decode(ENROLLMENT, newPhone().enrollment)
    assert.ok(isSigningKey(good) && isSigningKey(good) && !isOfLowOrder(good))
    assert.equal(encode(ENROLLMENT, good).length, 73)
    assert.equal(codeOf(() => encode(ENROLLMENT, hex(low[4]))), 'refused-key')
    assert.equal(codeOf(() => encode(RECIPIENT, hex('00'.repeat(32)))), 'refused-key')
  })
})

describe('The text of a key', () => {
  const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

  /** Returns Bech32 (BIP 173) of any values, with its checksum. */
  function bech32(kind, values) {
    const codes = Array.from(kind, (each) => each.charCodeAt(0))
    const all = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...values, 0, 0, 0, 0, 0, 0]
    const generator = [0x3b6a57b2n, 0x26508e6dn, 0x1ea119fan, 0x3d4233ddn, 0x2a1462b3n]
    let sum = 1n
    for (const value of all) {
      const top = sum >> 25n
      sum = ((sum & 0x1ffffffn) << 5n) ^ BigInt(value)
      generator.forEach((each, index) => { if ((top >> BigInt(index)) & 1n) sum ^= each })
    }
    const checksum = [25n, 20n, 15n, 10n, 5n, 0n].map((shift) => Number(((sum ^ 1n) >> shift) & 31n))
    return kind + '1' + [...values, ...checksum].map((value) => alphabet[value]).join('')
  }

  it('is refused for each fault of Specification 8.4', () => {
    const [text] = newPhone().recipients
    const values = Array.from(text.slice(5, -6), (each) => alphabet.indexOf(each))
    const code = (other, kind = RECIPIENT) => codeOf(() => decode(kind, other))
    assert.equal(bech32('push', values), text)
    assert.equal(code(text), undefined)
    assert.equal(code(text.toUpperCase()), undefined)
    assert.equal(code(bech32('push', [...values.slice(0, -1), values[51] ^ 1])), 'not-a-key')
    assert.equal(code(bech32('push', values.slice(0, -1))), 'not-a-key')
    assert.equal(code(bech32('push', [...values, 0])), 'not-a-key')
    assert.equal(code(bech32('pushsender', values)), 'wrong-kind')
    assert.equal(code(bech32('pushsender', values), SENDER), undefined)
    assert.equal(code(text.slice(0, -1) + text.slice(-1).toUpperCase().replace(/[0-9]/, 'Q')), 'wrong-case')
    assert.equal(code(generateSenderSecret().toLowerCase(), SENDER_SECRET), 'wrong-case')
    for (const wrong of [text.replace('push1', 'push'), 'push1' + 'q'.repeat(90), 7, 'é' + text]) assert.equal(code(wrong), 'not-a-key')
    for (const wrong of [text + ' ', ' ' + text, text + '\n', '\ufeff' + text]) assert.equal(code(wrong), 'white-space')
    for (const wrong of ['', undefined, null, 'undefined', 'None']) assert.equal(code(wrong), 'not-given')
    for (let index = 5; index < text.length; index += 1) {
      for (const other of alphabet) {
        if (other !== text[index]) assert.equal(code(text.slice(0, index) + other + text.slice(index + 1)), 'wrong-checksum')
      }
    }
  })
})

describe('Hostile input', () => {
  const leaves = [
    undefined, null, true, 0, -1, 1.5, 2 ** 53, NaN, 1n, '', 'x', '\ud800', 'é'.repeat(5000), Symbol('a'), () => 7, Buffer.alloc(3), new Date(), [], {},
    Object.create(null), 'pushrecord.', 'push1', TOPIC,
  ]

  it('is accepted, or refused with an error of this package', (context) => {
    const { phone, device } = enrolled(sender)
    const { next, pick } = seeded(context)
    const state = device.toJSON()
    const quick = new Sender(generateSenderSecret(), { topic: TOPIC })
    const { record } = phone
    const leaving = newPhone().leave()
    const mutated = (text) => {
      const place = next(text.length + 1)
      return pick([
        () => text.slice(0, place), () => text.slice(0, place) + pick([...'Aa1.-_ \0é٣']) + text.slice(place),
        () => text.slice(0, place) + pick([...'AaBb1qQ2é-']) + text.slice(place + 1), () => text.slice(place) + text.slice(0, place),
      ])()
    }
    for (let turn = 0; turn < (isThorough ? 20_000 : 1_000); turn += 1) {
      const [one, other] = [pick(leaves), pick(leaves)]
      const name = pick(['enrollment', 'record', 'proven', 'challenges'])
      const calls = [
        () => new Leaving(mutated(leaving), { topic: TOPIC }), () => new Leaving(one, { topic: other }), () => Device.enroll(mutated(record), { topic: TOPIC }), () => Device.enroll(one, { topic: other }), () => Device.fromJSON({ ...state, [name]: one }),
        () => Device.fromJSON({ ...state, [name]: [one] }), () => Device.fromJSON({ ...state, enrollment: mutated(state.enrollment) }),
        () => device.update(one, { now: other }), () => device.challenge(one, { recipient: other }), () => device.challenge(quick, { recipient: one, now: other }),
        () => quick.seal({ ...NINA, [pick(['id', 'sent', 'badge', 'sound', 'data', 'chart', 'alert'])]: one }, device),
        () => quick.seal(NINA, device, { priority: one }), () => quick.sealUnverified(NINA, one), () => quick.sealUnverified(NINA, mutated(device.recipient())),
        () => quick.seal(NINA, device, { expiration: one, now: other }),
      ]
      pick(calls.map((call) => () => codeOf(call)))()
    }
    assert.deepEqual(device.toJSON().proven, state.proven)
  })
})
