import assert from 'node:assert/strict'
import crypto, { KeyObject, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as sealedPush from 'sealed-push'
import { Device, generateSenderSecret, Sender } from 'sealed-push'
import * as server from 'sealed-push/server'
import * as testing from 'sealed-push/testing'
import { MOMENT } from '../src/errors.js'
import { NAMES } from '../src/protocol/content.js'
import * as keyText from '../src/protocol/key-text.js'
import { decodeBase64 } from '../src/protocol/text.js'
import { codeOf, enrolled, NINA, now, TOPIC } from './support.js'

const secret = generateSenderSecret()
const sender = new Sender(secret, { topic: TOPIC })
const { phone, device } = enrolled(sender)
// Not the current time, but near enough for records to be valid.
const earlier = now() - 60
const quick = new Sender(secret, { topic: TOPIC })

describe('Sender', () => {
  it('seals content that opens, and fills in missing members', () => {
    const push = sender.seal(NINA, device, { now: earlier })
    assert.deepEqual(phone.open(push.payload), { id: push.messageID, topic: TOPIC, sent: earlier, ...NINA })
    assert.equal(push.recipient, device.recipient())
    assert.equal(sender.sealUnverified(NINA, push.recipient.toUpperCase()).recipient, push.recipient)
    assert.deepEqual(Object.keys(push.message), ['aps', 'custom-encrypted-message'])
    assert.deepEqual(push.message.aps, { alert: 'You have a new message!', 'mutable-content': 1 })
    assert.equal(push.payload.length, 527)
  })

  it('makes a push that goes through a queue of JSON', () => {
    const push = sender.seal(NINA, device)
    const stored = JSON.parse(JSON.stringify({ jobs: [push] })).jobs[0]
    assert.deepEqual(stored, { payload: push.payload.toString(), headers: push.headers, messageID: push.messageID, recipient: push.recipient, sender: sender.publicKey })
    assert.ok(Buffer.from(stored.payload).equals(push.payload))
    assert.equal(phone.open(stored.payload).alert.title, 'Nina')
  })

  it('uses a new ephemeral key for each message, and a new number', () => {
    const envelopes = [1, 2, 3].map(() => decodeBase64(quick.seal(NINA, device).message['custom-encrypted-message']))
    assert.equal(new Set(envelopes.map((each) => each.toString('hex', 9, 41))).size, 3)
    assert.equal(new Set(envelopes.map((each) => each.toString('hex', 41, 53))).size, 3)
  })

  it('exports no key that Node generated, which could block the process forever', (context) => {
    const { createPublicKey, generateKeyPairSync } = crypto
    const generated = new Set()
    context.after(() => {
      Object.assign(crypto, { createPublicKey, generateKeyPairSync })
      syncBuiltinESMExports()
    })
    crypto.generateKeyPairSync = (...options) => {
      const pair = generateKeyPairSync(...options)
      for (const key of Object.values(pair)) if (key instanceof KeyObject) generated.add(key)
      return pair
    }
    crypto.createPublicKey = (key) => {
      assert.ok(!generated.has(key))
      return createPublicKey(key)
    }
    syncBuiltinESMExports()
    sender.seal(NINA, device)
    assert.equal(generated.size, 1)
    for (const key of generated) assert.equal(key.type, 'private')
  })

  it('makes headers that are the same for one message and reveal nothing to others', () => {
    const content = { ...NINA, id: '5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09', expires: now() + 600 }
    for (const each of [sender, quick]) {
      const [first, again] = [each.seal(content, device), each.seal(content, device, { priority: 5 })]
      assert.deepEqual({ ...first.headers, 'apns-priority': '5' }, again.headers)
      assert.deepEqual(Object.keys(first.headers).sort(), [
        'apns-collapse-id', 'apns-expiration', 'apns-id', 'apns-priority', 'apns-push-type', 'apns-topic',
      ])
      assert.match(first.headers['apns-id'], /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.match(first.headers['apns-collapse-id'], /^[A-Za-z0-9_-]{22}$/)
      const match = each.seal({ ...NINA, 'collapse-id': 'match-7' }, device)
      const goal = each.seal({ ...NINA, 'collapse-id': 'match-7' }, device)
      assert.equal(match.headers['apns-collapse-id'], goal.headers['apns-collapse-id'])
      assert.notEqual(match.headers['apns-id'], goal.headers['apns-id'])
      const other = each.sealUnverified({ ...NINA, 'collapse-id': 'match-7' }, new testing.Phone({ topic: TOPIC }).recipients[0])
      assert.notEqual(match.headers['apns-collapse-id'], other.headers['apns-collapse-id'])
    }
    assert.notEqual(quick.seal(content, device).headers['apns-id'], new Sender(generateSenderSecret(), { topic: TOPIC }).seal(content, device).headers['apns-id'])
    assert.equal(quick.seal(content, device, { expiration: 0 }).headers['apns-expiration'], '0')
  })

  it('seals a withdrawal into a background push or an ordinary one', () => {
    for (const [filtered, kind, priority] of [[false, 'background', '5'], [true, 'alert', '10']]) {
      const push = quick.seal({ withdraw: { thread: 'nina', filtered } }, device)
      assert.deepEqual([push.headers['apns-push-type'], push.headers['apns-priority']], [kind, priority])
      assert.equal('content-available' in push.message.aps, !filtered)
    }
  })

  it('fits content of each length, or reports the excess', () => {
    for (const padding of ['buckets', 'full', 'none']) {
      const made = new Sender(secret, { topic: TOPIC, padding })
      const base = { id: '5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09', topic: TOPIC, sent: earlier, alert: { body: '' } }
      const room = made.maxContentBytes - Buffer.byteLength(JSON.stringify(base))
      for (const length of [1, 100, 1000, room]) {
        const push = made.seal({ ...base, alert: { body: 'x'.repeat(length) } }, device)
        assert.ok(push.payload.length <= 4096)
        assert.equal(phone.open(push.payload).alert.body.length, length)
      }
      assert.throws(
        () => made.seal({ ...base, alert: { body: 'x'.repeat(room + 17) } }, device),
        (error) => error instanceof sealedPush.TooLargeError && error.excess === 17 && error.message.includes('17 bytes'))
    }
    assert.equal(quick.maxContentBytes, 2932)
  })

  it('seals only to proven keys of a current record', () => {
    const fresh = new testing.Phone({ topic: TOPIC, trusting: [quick.publicKey] })
    const unproven = Device.enroll(fresh.record, { topic: TOPIC })
    assert.equal(codeOf(() => quick.seal(NINA, unproven)), 'unproven')
    assert.equal(codeOf(() => quick.seal(NINA, device, { now: device.expires + 1 })), 'expired')
    assert.equal(codeOf(() => new Sender(secret, { topic: 'com.example.other' }).seal(NINA, device)), 'other-topic')
    assert.ok(fresh.open(quick.sealUnverified(NINA, fresh.recipients[0]).payload))
  })

  it('refuses pushes that expire after the device erases its keys', () => {
    const late = (content, expiration) => {
      assert.throws(
        () => quick.seal(content, device, { expiration, now: earlier }),
        (error) => error instanceof sealedPush.RecordError && error.code === 'expires-too-late' && error.message.includes('Device.keeps'))
    }
    for (const days of [1, 3, 29, 30, 31]) {
      device.update(phone.signRecord({ keeps: days }))
      assert.equal(device.keeps, days)
      const sent = earlier - 60
      const last = sent + days * 86400
      const content = { ...NINA, sent }
      const seal = (more, expiration) => {
        const push = quick.seal({ ...content, ...more }, device, { expiration, now: earlier })
        return [push.headers['apns-expiration'], phone.open(push.payload).expires]
      }
      const filledIn = days < 30 ? last : undefined
      assert.deepEqual(seal(), [filledIn && String(filledIn), filledIn])
      assert.ok(!('expires' in content))
      // The caller's expiration affects only the header.
      const lastExpiration = earlier + days * 86400 + 3600
      for (const given of [0, lastExpiration]) assert.deepEqual(seal({}, given), [String(given), filledIn])
      assert.deepEqual(seal({ expires: last + 3600 }), [String(last + 3600), last + 3600])
      late(content, lastExpiration + 1)
      for (const expiration of [undefined, 0]) late({ ...content, expires: last + 3601 }, expiration)

      // It is unknown how long such a key is kept.
      const [recipient] = phone.recipients
      quick.sealUnverified({ ...content, expires: last + 3601 }, recipient, { expiration: lastExpiration + 1, now: earlier })
      const push = quick.sealUnverified(content, recipient, { now: earlier })
      assert.ok(!('apns-expiration' in push.headers) && !('expires' in phone.open(push.payload)))
    }
    device.update(phone.signRecord({ keeps: 30 }))
  })

  it('refuses content if the end to fill in has passed', () => {
    for (const days of [1, 3, 29]) {
      device.update(phone.signRecord({ keeps: days }))
      const last = earlier - days * 86400
      const code = (content, expiration) => codeOf(() => quick.seal({ ...NINA, ...content }, device, { expiration, now: earlier }))
      for (const expiration of [undefined, 0]) {
        const push = quick.seal({ ...NINA, sent: last }, device, { expiration, now: earlier })
        assert.equal(phone.open(push.payload).expires, earlier)
        for (const sent of [last - 1, 0]) assert.equal(code({ sent }, expiration), 'expires-too-late')
      }
      // An explicit expiration is checked as in other content.
      assert.equal(code({ sent: last - 1, expires: earlier - 1 }), 'malformed-content')
      assert.equal(code({ sent: last - 1, expires: earlier + 3599 }), undefined)
      // Errors about wrong times name the member.
      for (const [name, value] of [['sent', 'now'], ['sent', true], ['sent', -1], ['sent', null], ['expires', null], ['expires', earlier * 1000]]) {
        assert.throws(() => quick.seal({ ...NINA, [name]: value }, device), (error) => error.member === name)
      }
    }
    device.update(phone.signRecord({ keeps: 30 }))
  })

  it("seals pushes that don't open with another sender, topic, or key, or with a flipped bit", () => {
    const push = quick.seal(NINA, device)
    const refused = (code, payload, { topic = TOPIC, trusting = [quick.publicKey] } = {}) =>
      assert.equal(codeOf(() => new testing.Phone({ topic, trusting, identities: [identity] }).open(payload)), code)
    const identity = keyText.encode(keyText.IDENTITY, randomBytes(32))
    const { payload } = quick.sealUnverified(NINA, new testing.Phone({ topic: TOPIC, identities: [identity] }).recipients[0])
    refused(undefined, payload)
    refused('unknown-recipient', push.payload)
    refused('unknown-sender', payload, { trusting: [new Sender(generateSenderSecret(), { topic: TOPIC }).publicKey] })
    refused('rejected', payload, { topic: 'com.example.other' })
    const envelope = decodeBase64(push.message['custom-encrypted-message'])
    for (let bit = 0; bit < envelope.length * 8; bit += 1) {
      envelope[bit >> 3] ^= 1 << (bit & 7)
      const code = codeOf(() => phone.open({ 'custom-encrypted-message': envelope.toString('base64url') }))
      assert.ok(['malformed', 'unknown-suite', 'unknown-recipient', 'unknown-sender', 'rejected'].includes(code), `bit ${bit}: ${code}`)
      envelope[bit >> 3] ^= 1 << (bit & 7)
    }
  })

  it('refuses wrong settings, each with its code', () => {
    const make = (settings) => codeOf(() => new Sender(secret, { topic: TOPIC, ...settings }))
    for (const topic of ['', 'a b', 'x'.repeat(156), null, 3, 'a\n']) assert.equal(make({ topic }), 'topic')
    for (const padding of ['most', null, []]) assert.equal(make({ padding }), 'padding')
    for (const safeDefault of ['', ' \u200b', null, 7, {}, [], { body: 1 }, { 'loc-args': ['a'] }, { other: 'x' }, 'x'.repeat(1023), '\ud800a']) {
      assert.equal(make({ safeDefault }), 'safe-default')
    }
    assert.equal(make({ saveDefault: 'You have a new message!' }), 'options')
    assert.equal(codeOf(() => new Sender(secret)), 'topic')
    assert.equal(codeOf(() => new Sender(secret, 'com.example.app')), 'options')
    for (const [name, value] of [['priority', 9], ['priority', null], ['now', 1.5], ['now', Date.now()], ['options', 1],
      ...['0', -1, 1, 86400, earlier - 600, Date.now()].map((wrong) => ['expiration', wrong])]) {
      assert.equal(codeOf(() => quick.seal(NINA, device, { [name]: value })), name)
    }
    assert.equal(codeOf(() => quick.seal(NINA, { topic: TOPIC })), 'device')
    assert.equal(codeOf(() => quick.seal(NINA, Object.create(Device.prototype))), 'device')
  })

  it('refuses content that devices would refuse, and names the member', () => {
    const member = (content) => {
      try {
        quick.seal(content, device)
      } catch (error) {
        assert.ok(error instanceof sealedPush.ContentError, error)
        // Null if no single member is wrong.
        return error.member ?? null
      }
    }
    const wrong = {
      id: ['', 'x', 7, '5B0F6C1E-8d3a-4f57-9a61-2f4c8e7d1b09'], sent: [1.5, -1, '1'], expires: [true, 253402300800],
      'collapse-id': ['', 'é'.repeat(33)], alert: [{}, [], 'x', { body: 7 }, { title: ' \u200b\u2800' }, null], badge: [-1, 2147483648, 1.5, '1'],
      sound: ['', { critical: 2 }, { volume: 1.1 }, { name: '' }, 7], 'thread-id': [7], category: [null],
      'interruption-level': ['loud', 7], 'relevance-score': [1.1, '1'], 'filter-criteria': [7], 'target-content-id': [null], data: [null], chart: [{}, { kind: 'line', points: [null] }],
      person: [{}, { name: 'Nina' }, { name: ' ', id: 'n' }, { name: 'Nina', id: 'n', image: '' }, { name: 'Nina', id: 'n', 'image-data': 'A' }, 'Nina'],
      template: [false, 1], disclosure: ['Full', 'none', '', 0, ['full']], attachments: [7, ['x']], overflow: [7], receipt: [{}, { url: 'https://a.example' }],
      group: [{}, { name: ' ' }, { name: 'Lunch', count: 1 }, { name: 'Lunch', recipients: [{}] }, 'Lunch', { name: 'Lunch' }],
    }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) assert.equal(member({ ...NINA, [name]: value }), name, `${name}: ${inspect(value)}`)
    }
    class Mine { at = 1 }
    for (const [path, data, words] of [
      ['data.order.createdAt', { order: { createdAt: new Date() } }, 'is a Date; write it as text'],
      ['data', new Date(), 'is a Date; write it as text'], ['data[1].bytes', [{}, { bytes: Buffer.alloc(1) }], 'is a Buffer; write it as text'],
      ['data.map', { map: new Map() }, 'is a Map; write it as text'], ['data.mine', { mine: new Mine() }, 'is a Mine; write it as text'],
      ['data.n', { n: 1n }, 'is a bigint; write it as text'], ['data.call', { call: () => 1 }, 'is a function; write it as text'],
      ['data.symbol', { symbol: Symbol('a') }, 'is a symbol; write it as text'], ['data[0]', [undefined], 'is undefined; use null'],
      ['data.n', { n: NaN }, 'is not a number that JSON can represent'], ['data.n', { n: -Infinity }, 'is not a number that JSON can represent'],
      ['data.n[0]', { n: [2 ** 53] }, 'has rounded; write it as text'], ['data.text', { text: 'a\ud800' }, 'an unpaired surrogate'],
      ['data.a', { a: { '\udfff': 1 } }, 'an unpaired surrogate in a name'], ['data.a', { a: { ['é'.repeat(128) + 'n']: 1 } }, 'larger than 256 bytes'],
      ['data.a', { a: new (class { constructor() { this.constructor = { name: 'not shown\n' } } })() }, 'is a special object; write it as text'],
      // Names that may be data aren't shown.
      ...['a b', 'nina@example.com', '+49301234', 'x'.repeat(33), '', 'é', 'a.b', 'a\n', '1', '-x'].map(
        (name) => ['data.…', { [name]: new Date() }, 'is a Date; write it as text']),
    ]) {
      assert.equal(member({ ...NINA, data }), path, inspect(data))
      assert.throws(() => quick.seal({ ...NINA, data }, device), (error) => error.message.includes(words) && error.message.includes(`"${path}"`), words)
    }
    assert.equal(member({ alert: { body: new Date() } }), 'alert.body')
    for (const [path, part] of [['attachments[0].url', { attachments: [{}] }], ['overflow.url', { overflow: {} }], ['person.image', { person: { name: 'Nina', id: 'n', image: 'a' } }], ['attachments[0].key', { attachments: [{ key: null }] }]]) {
      assert.equal(member({ ...NINA, ...part }), path)
    }
    assert.equal(member({ ...NINA, sent: new Date() }), 'sent')
    // A name is the same only if its bytes are.
    assert.equal(member({ ...NINA, data: { 'é': 1, 'e\u0301': 2, ['é'.repeat(128)]: 3 }, attachments: [] }), undefined)
    let nested = 1
    for (let level = 0; level < 15; level += 1) nested = [nested]
    assert.equal(member({ ...NINA, data: nested }), undefined)
    assert.equal(member({ ...NINA, data: [nested] }), `data${'[0]'.repeat(15)}`)
    const circular = { ...NINA }
    circular.data = circular
    assert.equal(member(circular), `data${'.data'.repeat(14)}.alert`)
    for (const content of [undefined, null, 7, 'x', []]) assert.equal(member(content), null)
    assert.equal(codeOf(() => quick.seal({ ...NINA, topic: 'com.example.other' }, device)), 'other-topic')
    // Undefined members are absent; names of Object.prototype are ordinary names.
    const odd = JSON.parse('{"__proto__": {"toString": 1}, "constructor": 2}')
    const opened = phone.open(quick.seal({ ...NINA, badge: undefined, data: odd }, device).payload)
    assert.ok(!('badge' in opened))
    assert.equal(JSON.stringify(opened.data), JSON.stringify(odd))
  })
})

describe('An obvious mistake', () => {
  const mistake = (content) => {
    try {
      quick.seal({ ...NINA, ...content }, device)
    } catch (error) {
      assert.ok(error instanceof sealedPush.ContentError, error)
      return error
    }
    assert.fail(inspect(content))
  }

  it('in the content is refused with the name of the member', () => {
    for (const [member, content] of Object.entries({
      'sound.volume': { sound: { volume: null } }, expires: { expires: 3600 }, alert: { alert: 'Lunch at one?' },
    })) {
      assert.equal(mistake(content).member, member)
      assert.ok(mistake(content).message.includes(`"${member}"`))
    }
    const at = Date.now()
    for (const [name, value] of [['expires', 3600], ['expires', at + 3_600_000], ['expires', at / 1000 + 0.5], ['expires', '2027-01-01T00:00:00Z'],
      ['expires', new Date(at + 1000).getTime()], ['sent', at], ['sent', 1.5], ['sent', String(earlier)]]) {
      assert.ok(mistake({ [name]: value }).message.includes(MOMENT), `${name}: ${value}`)
    }
    for (const [name, value] of [['expiration', at], ['expiration', 3600], ['now', at], ['now', 1.5]]) {
      assert.throws(() => quick.seal(NINA, device, { [name]: value }), (error) => error.message.includes(MOMENT))
    }
    assert.throws(() => device.recipient({ now: at }), (error) => error.message.includes(MOMENT))
    assert.match(mistake({ badge: null }).message, /leave it out/)
    assert.match(mistake({ alert: 'Lunch at one?' }).message, /such as { title/)
    for (const number of [2 ** 53, 2 ** 63, -(2 ** 60), 1e20]) assert.match(mistake({ data: [number] }).message, /write it as text/)
    // The app's own values are allowed.
    const own = { kudos: null, data: { title: null, id: [2 ** 53 - 1, 1e21, 1.5] }, expires: earlier }
    assert.ok(quick.seal({ ...NINA, ...own, chart: { kind: 'line', points: [1, null] } }, device, { now: earlier }))
  })

  it("in a member's name causes one warning", async () => {
    const warnings = []
    const note = (warning) => warnings.push(`${warning.name}: ${warning.message}`)
    process.on('warning', note)
    const content = { alert: { titel: 't', body: 'b' } }
    const push = [1, 2].map(() => quick.seal(content, device))[1]
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    assert.deepEqual(warnings, ['SealedPushWarning: "alert.titel" is not a known member and looks misspelled'])
    assert.deepEqual(phone.open(push.payload).alert, content.alert)
  })

  it('around a secret is ignored, or the error names the kind of fault', () => {
    const key = sender.publicKey
    for (const text of [`${secret}\n`, `${secret}\r\n`, `  ${secret}\t`, `\ufeff${secret}`]) assert.equal(new Sender(text, { topic: TOPIC }).publicKey, key)
    const wrong = [[undefined, 'not-given'], [null, 'not-given'], ['\n', 'not-given'], ['undefined', 'not-given'], [secret.toLowerCase(), 'wrong-case'], [7, 'not-a-key']]
    for (const [text, code] of wrong) assert.equal(codeOf(() => new Sender(text, { topic: TOPIC })), code)
  })
})

describe('Secrets', () => {
  it('appear neither in output nor in errors', () => {
    const bytes = keyText.decode(keyText.SENDER_SECRET, secret)
    const body = 'nobody-else-reads-this'
    const push = sender.seal({ alert: { body } }, device)
    const shown = [inspect(sender, { depth: 9, showHidden: true }), JSON.stringify(sender), String(sender), inspect(push, { showHidden: true }), inspect({ push, sender, device })]
    for (const error of errorsOf(body)) shown.push(inspect(error, { depth: 9, showHidden: true }), error.stack, JSON.stringify(error))
    for (const text of shown) {
      for (const hidden of [secret, secret.toLowerCase(), bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url'), body]) {
        assert.ok(!text.includes(hidden), text)
      }
    }
    assert.match(inspect(sender), /^Sender\(pushsender1[a-z0-9]+, com\.example\.app\)$/)
    assert.throws(() => structuredClone(sender).seal(NINA, device), TypeError)
  })

  function errorsOf(body) {
    const leaking = new Proxy({}, { ownKeys() { throw new Error(body) } })
    const calls = [
      () => new Sender(secret.slice(0, -1) + (secret.endsWith('Q') ? 'P' : 'Q'), { topic: TOPIC }),
      () => new Sender(secret.toLowerCase(), { topic: TOPIC }),
      () => new Sender(secret, { topic: body + ' ' }),
      () => quick.seal({ alert: { body }, data: { [`${body}@example.com`]: () => body } }, device),
      () => quick.seal({ alert: { body: body.repeat(200) } }, device),
      () => quick.seal({ alert: { body }, data: leaking }, device),
      () => quick.sealUnverified({ alert: { body } }, body),
      () => Device.enroll(body, { topic: TOPIC }),
      () => device.update(body),
      () => device.answer(body),
    ]
    return calls.map((call) => {
      try {
        call()
      } catch (error) {
        assert.ok(error instanceof sealedPush.SealedPushError, error)
        return error
      }
      assert.fail('it was taken')
    })
  }
})

describe('The types', () => {
  it('declare all exports, and each member of the classes', () => {
    const [types, testingTypes, serverTypes] = ['index', 'testing', 'server/index'].map((name) => readFileSync(new URL(`../src/${name}.d.ts`, import.meta.url), 'utf8'))
    const declared = (text) => [...text.matchAll(/^export (?:class|function) (\w+)/gm)].map((match) => match[1]).sort()
    assert.deepEqual(declared(types), Object.keys(sealedPush).sort())
    assert.deepEqual(declared(testingTypes), Object.keys(testing).sort())
    assert.deepEqual(declared(serverTypes), Object.keys(server).sort())
    // The types of content are closed, so that a compiler finds a misspelled name.
    const [content, withdrawal] = ['Content', 'Withdrawal'].map((name) => types.split(`export interface ${name} {`)[1].split('\n}')[0])
    const members = [...new Set([...`${content}\n${withdrawal}`.matchAll(/^  '?([\w-]+)'?\??:/gm)].map((match) => match[1]))]
    assert.deepEqual(members.sort(), [...NAMES.content].sort())
    assert.ok(!content.includes('[name'))
    for (const type of [Sender, Device, sealedPush.APNs, sealedPush.Leaving, sealedPush.ReceiptReceiver, sealedPush.OutboxKey, testing.Phone, ...Object.values(server).filter(({ prototype }) => prototype !== undefined && Object.getOwnPropertyNames(prototype).length > 1)]) {
      const block = `${types}${testingTypes}${serverTypes}`.split(new RegExp(`export class ${type.name}\\b.*{`))[1].split('\n}')[0]
      const names = [...Object.getOwnPropertyNames(type.prototype), ...Object.getOwnPropertyNames(type)]
      for (const name of names.filter((each) => !['constructor', 'length', 'name', 'prototype'].includes(each))) {
        assert.match(block, new RegExp(`\\b${name}\\b`), `${type.name}.${name}`)
      }
    }
  })
})
