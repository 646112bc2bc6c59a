// Runs the README's blocks as they are.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as sealedPush from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import { enrolled, TOPIC } from './support.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1])
const secret = sealedPush.generateSenderSecret()
const { phone, device } = enrolled(new sealedPush.Sender(secret, { topic: TOPIC }))

/** Returns a function with a block's code. Its imports are parameters. */
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
const compiled = (text, parameters, results = '') =>
  new AsyncFunction(...parameters, `${text.replace(/^import .*$/gm, '')}; return { ${results} }`)

const [minute, sealing, sending, devices] = blocks
const parameters = ['Device', 'Leaving', 'Sender', 'stored', 'process']
const values = [sealedPush.Device, sealedPush.Leaving, sealedPush.Sender, device.toJSON(), { env: { SENDER_SECRET: secret } }]
const shown = await compiled(`${sealing}\n${devices}`, parameters, 'sender, push, enroll, answered, updated, left')(...values)

describe('README.md', () => {
  it('seals and opens in its first block', async () => {
    assert.ok(blocks[0].split('\n').length <= 13)
    const printed = []
    const names = [...Object.keys(sealedPush), 'Phone', 'console']
    await compiled(minute, names)(...Object.values(sealedPush), Phone, { log: (text) => printed.push(text) })
    assert.deepEqual(printed, ['Lunch at one?'])
  })

  it('seals in ten lines', () => {
    assert.equal(blocks.length, 4)
    assert.ok(blocks[1].split('\n').length <= 10)
    assert.equal(phone.open(shown.push.payload).alert.body, 'Lunch at one?')
  })

  it('sends, and returns the response', async () => {
    const given = []
    class APNs extends sealedPush.APNs {
      constructor(settings) {
        super(settings)
        given.push(settings)
      }

      async send(...values) {
        given.push(values)
        return { outcome: 'accepted' }
      }
    }
    const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ format: 'pem', type: 'pkcs8' })
    const env = { APNS_KEY: 'AuthKey.p8', APNS_KEY_ID: 'ABCDE12345', APNS_TEAM_ID: 'FGHIJ67890' }
    const read = (path) => (assert.equal(path, env.APNS_KEY), key)
    const run = compiled(sending, ['APNs', 'readFileSync', 'process', 'push', 'token'], 'answer')
    const { answer } = await run(APNs, read, { env }, shown.push, '00ff')
    assert.deepEqual(answer, { outcome: 'accepted' })
    assert.deepEqual(given[1], [shown.push, '00ff'])
    const types = readFileSync(new URL('../src/index.d.ts', import.meta.url), 'utf8')
    const outcomes = [...types.split('readonly outcome: ')[1].split('\n')[0].matchAll(/'(\w+)'/g)].map((match) => match[1])
    for (const outcome of outcomes) assert.ok(readme.includes(`\`${outcome}\``), outcome)
    assert.equal(outcomes.length, 7)
  })

  it('enrolls and rotates', () => {
    const other = new Phone({ topic: TOPIC, trusting: [shown.sender.publicKey] })
    let [stored, question] = shown.enroll(other.record)
    stored = shown.answered(stored, other.answer(question))
    other.rotate()
    ;[stored, question] = shown.updated(stored, other.record)
    stored = shown.answered(stored, other.answer(question))
    other.retire()
    ;[stored, question] = shown.updated(stored, other.record)
    assert.equal(question, undefined)
    assert.equal(sealedPush.Device.fromJSON(JSON.parse(stored)).recipient(), other.recipients[0])
  })

  it('forgets the devices that a leaving ends', () => {
    const { phone, device } = enrolled(shown.sender)
    const leaving = phone.leave()
    const asked = []
    assert.deepEqual(shown.left(leaving, (enrollment) => (asked.push(enrollment), [device])), [device])
    assert.deepEqual(asked, [device.enrollment])
    assert.deepEqual(shown.left(leaving, () => [enrolled(shown.sender, phone).device]), [])
  })

  it('lists every error', () => {
    for (const [name, type] of Object.entries(sealedPush)) {
      if (name !== 'SealedPushError' && type.prototype instanceof sealedPush.SealedPushError) assert.ok(readme.includes(`- \`${name}\`: `), name)
    }
  })
})
