// Text is UTF-8 or refused, limits count bytes, and no error repeats a secret.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { APNs, Device, generateSenderSecret, Leaving, SealedPushError, Sender } from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import { enrolled, NINA, TOPIC } from './support.js'

const secret = generateSenderSecret()
const sender = new Sender(secret, { topic: TOPIC })
const { phone, device } = enrolled(sender)
const push = sender.seal(NINA, device)
const state = device.toJSON()
const leaving = new Phone({ topic: TOPIC }).leave()
const pem = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ format: 'pem', type: 'pkcs8' })
const settings = { key: pem, keyID: 'ABCDE12345', teamID: 'FGHIJ67890', environment: 'sandbox' }
const apns = new APNs(settings)
const seal = (content) => sender.seal({ ...NINA, ...content }, device)

/** All calls that take text, as functions of that text. */
const calls = {
  secret: (text) => new Sender(text, { topic: TOPIC }),
  topic: (topic) => new Sender(secret, { topic }),
  'safe default': (safeDefault) => new Sender(secret, { topic: TOPIC, safeDefault }),
  'localized safe default': (text) => new Sender(secret, { topic: TOPIC, safeDefault: { 'loc-key': text } }),
  'localized argument': (text) => new Sender(secret, { topic: TOPIC, safeDefault: { 'loc-key': 'k', 'loc-args': [text] } }),
  padding: (padding) => new Sender(secret, { topic: TOPIC, padding }),
  title: (title) => seal({ alert: { title } }),
  ...Object.fromEntries(['id', 'topic', 'collapse-id', 'thread-id', 'category', 'sound', 'data', 'interruption-level'].map(
    (name) => [name, (text) => seal({ [name]: text })])),
  person: (id) => seal({ person: { name: 'Nina', id } }),
  chart: (label) => seal({ chart: { kind: 'line', points: [1], labels: [label] } }),
  name: (text) => seal({ [text]: 1 }),
  'name in data': (text) => seal({ data: { [text]: 1 } }),
  'withdrawn thread': (thread) => sender.seal({ withdraw: { thread } }, device),
  recipient: (text) => sender.sealUnverified(NINA, text),
  record: (text) => Device.enroll(text, { topic: TOPIC }),
  "record's topic": (topic) => Device.enroll(phone.record, { topic }),
  'newer record': (text) => device.update(text),
  answer: (text) => device.answer(text),
  'challenged key': (recipient) => device.challenge(sender, { recipient }),
  enrollment: (enrollment) => Device.fromJSON({ ...state, enrollment }),
  proven: (text) => Device.fromJSON({ ...state, proven: [text] }),
  hash: (hash) => Device.fromJSON({ ...state, challenges: [{ ...state.challenges[0], hash }] }),
  leaving: (text) => new Leaving(text, { topic: TOPIC }),
  "leaving's topic": (topic) => new Leaving(leaving, { topic }),
  "Apple's key": (key) => new APNs({ ...settings, key }),
  "Apple's key ID": (keyID) => new APNs({ ...settings, keyID }),
  'team ID': (teamID) => new APNs({ ...settings, teamID }),
  environment: (environment) => new APNs({ ...settings, environment }),
  server: (server) => new APNs({ ...settings, server }),
  token: (text) => apns.send(push, text),
  'payload to send': (text) => apns.send({ payload: `"${text}"`, headers: { ...push.headers, 'apns-id': '\n' } }, '00ff'),
  header: (text) => apns.send({ ...push, headers: { ...push.headers, 'apns-collapse-id': text } }, text),
  "phone's topic": (topic) => new Phone({ topic }),
  "phone's sender": (text) => new Phone({ topic: TOPIC, trusting: [text] }),
  "phone's identity": (text) => new Phone({ topic: TOPIC, identities: [text] }),
  challenge: (text) => phone.answer(text),
  payload: (text) => phone.open(text),
  field: (text) => phone.open({ 'custom-encrypted-message': text }),
}

/** Returns the error of a call, or undefined. An error of another package fails the test. */
async function errorOf(call, text) {
  try {
    await call(text)
  } catch (error) {
    assert.ok(error instanceof SealedPushError, error)
    return error
  }
}

describe('Text', () => {
  it('with an unpaired surrogate is refused everywhere', async () => {
    assert.ok(Object.keys(calls).length > 40)
    for (const text of ['\ud800', 'Zo\udce9', '\udfffx', 'x\ude00\ud83d']) {
      for (const [name, call] of Object.entries(calls)) assert.ok(await errorOf(call, text), `${name}: ${JSON.stringify(text)}`)
    }
    // Buffer.from would make both the same bytes.
    for (const text of ['\ud800', '\udfff']) {
      assert.equal((await errorOf((payload) => apns.send({ ...push, payload }, '00ff'), `"${text}"`)).code, 'push')
    }
  })

  it('in bytes is UTF-8, or refused', async () => {
    const text = push.payload.toString()
    for (const payload of [Buffer.of(255), Buffer.concat([push.payload.subarray(0, -2), Buffer.from([255, 34, 125])]), Buffer.from(text, 'utf16le')]) {
      assert.equal((await errorOf((each) => phone.open(each), payload)).code, 'malformed')
    }
  })

  it('is limited in bytes', async () => {
    for (const [name, most] of [['collapse-id', 64], ['person', 128], ['chart', 48], ['name in data', 256], ['safe default', 1022]]) {
      for (const letter of ['a', 'é', '字', '😀']) {
        const size = Buffer.byteLength(letter)
        const longest = letter.repeat(Math.floor(most / size)) + 'a'.repeat(most % size)
        assert.equal(await errorOf(calls[name], longest), undefined, `${name}: ${letter}`)
        assert.ok(await errorOf(calls[name], `${longest}a`), `${name}: ${letter}`)
      }
    }
  })

  it('that looks alike stays apart', () => {
    const names = ['é', 'e\u0301', 'K', '\u212a', 'ﬀ', 'ff', 'É']
    const collapse = names.map((name) => seal({ 'collapse-id': name }).headers['apns-collapse-id'])
    assert.equal(new Set(collapse).size, names.length)
  })
})

describe('An error', () => {
  it('repeats no secret, whatever it was given for', async () => {
    const hidden = 's3cr3t-pw'
    const given = {
      'a secret': secret,
      'an altered secret': secret.slice(0, -1) + (secret.endsWith('Q') ? 'P' : 'Q'),
      'a secret in lowercase': secret.toLowerCase(),
      'two secrets': `${secret} ${secret}`,
      'a URL with a password': `https://push:${hidden}@push.example.com/1`,
      'a URL with a password and a wrong port': `https://push:${hidden}@push.example.com:99999/1`,
      'a URL with a password and a bracket': `https://push:${hidden}@[::1/1`,
      'a part of a key': pem.slice(0, -40),
      'a header': `bearer ${hidden}`,
      'a line end': `x\r\n${hidden}`,
    }
    const [, line] = pem.split('\n')
    let count = 0
    for (const [what, text] of Object.entries(given)) {
      for (const [name, call] of Object.entries(calls)) {
        const error = await errorOf(call, text)
        if (error === undefined) continue
        count += 1
        const told = [inspect(error, { depth: 9, showHidden: true }), error.stack, String(error), JSON.stringify(error), String(error.cause)].join()
        for (const each of [secret.slice(30, -2), secret.slice(30, -2).toLowerCase(), hidden, line]) {
          assert.ok(!told.includes(each), `${what} as ${name}: ${told}`)
        }
      }
    }
    assert.ok(count > 300, String(count))
  })
})
