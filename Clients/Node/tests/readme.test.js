// Runs the README's blocks as they are.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as sealedPush from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import * as server from 'sealed-push/server'
import { App, hasPostgres, installed, startPostgres } from './back-end.js'
import { enrolled, TOPIC } from './support.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1])
const secret = sealedPush.generateSenderSecret()
const { phone, device } = enrolled(new sealedPush.Sender(secret, { topic: TOPIC }))

/** Returns a function with a block's code. Its imports are parameters. */
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
const compiled = (text, parameters, results = '') =>
  new AsyncFunction(...parameters, `${text.replace(/^import .*$/gm, '')}; return { ${results} }`)

const [minute, sealing, sending, enqueuing, backEnd, devices, files, receiving] = blocks
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
    assert.equal(blocks.length, 8)
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

  it('has a back end in Express, which enrolls phones and sends messages', async (context) => {
    assert.ok(backEnd.trimEnd().split('\n').length <= 40)
    const express = installed('express')
    if (express === undefined || !hasPostgres) return context.skip("needs PostgreSQL and Express, as in Debian's node-express")
    const postgres = await startPostgres()
    const sent = []
    class APNs {
      constructor({ environment }) {
        this.send = async (push, token) => {
          sent.push([environment, token, push])
          return token === '00' ? { outcome: 'refused', reason: 'BadDeviceToken' } : { outcome: 'accepted' }
        }
      }
    }
    const Pool = function ({ connectionString }) {
      assert.equal(connectionString, 'postgres://')
      return postgres.psql
    }
    const env = { DATABASE_URL: 'postgres://', SENDER_SECRET: secret, APNS_KEY: 'AuthKey.p8', PORT: '0' }
    let running
    try {
      await postgres.psql.query(`CREATE TABLE login (token text, account text); INSERT INTO login VALUES ('t', 'alice'); ${server.PostgresStore.schema}`)
      const given = { ...sealedPush, ...server, APNs, express, pg: { Pool }, readFileSync: () => 'key', process: { env } }
      running = (await compiled(backEnd, Object.keys(given), 'server')(...Object.values(given))).server
      const { port } = running.address()
      const app = new App({ sender: shown.sender, fetch, url: `http://127.0.0.1:${port}` }, 't')
      assert.deepEqual(await app.enroll(), [200, 204])
      const post = (text, headers) => fetch(`${app.url}/messages`, { method: 'POST', body: JSON.stringify({ to: 'alice', text }), headers: { 'content-type': 'application/json', ...headers } })
      assert.equal((await post('x')).status, 401)
      assert.equal((await post('Lunch at one?', { authorization: 'Bearer t' })).status, 202)
      const [[environment, token, push]] = sent
      assert.deepEqual([environment, token, app.phone.open(push.payload).alert], ['production', '00ff', { title: 'alice', body: 'Lunch at one?' }])
      assert.equal((await app.send('POST', `${app.path}/test`)).body.enqueued, 1)
      // A refused token isn't used until the app sends it again.
      app.token = '00'
      await app.register()
      assert.deepEqual((await app.send('POST', `${app.path}/test`)).body.skipped, { refused: 1 })
      await post('x', { authorization: 'Bearer t' })
      assert.equal(sent.length, 3)
      await app.register()
      await post('x', { authorization: 'Bearer t' })
      assert.equal(sent.length, 4)
    } finally {
      running?.close()
      running?.closeAllConnections()
      await postgres.stop()
    }
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

  it('enqueues, encrypts a photo, and takes a receipt', async () => {
    const { enqueue, contentWithPhoto } = await compiled(`${enqueuing}\n${files}`, ['enqueueQuery', 'sealAttachment'], 'enqueue, contentWithPhoto')(sealedPush.enqueueQuery, sealedPush.sealAttachment)
    const given = []
    const client = { query: async (query) => (given.push(query), { rows: [{ enqueue: 'enqueued' }] }) }
    assert.equal(await enqueue(client, shown.push, 'phone-1', 7), 'enqueued')
    assert.equal(given[0].values[8], 'message 7 to phone-1')
    const folder = mkdtempSync(join(tmpdir(), 'readme'))
    try {
      writeFileSync(join(folder, 'photo.gif'), 'GIF89a and so on')
      const content = await contentWithPhoto(join(folder, 'photo.gif'), join(folder, 'stored'))
      const sender = new sealedPush.Sender(secret, { topic: TOPIC, receipts: 'https://push.example.com/receipts' })
      const opened = phone.open(sender.seal(content, device).payload)
      await sealedPush.openFile(opened.attachments[0], join(folder, 'stored'), join(folder, 'opened'))
      assert.equal(readFileSync(join(folder, 'opened'), 'utf8'), 'GIF89a and so on')
      const { ReceiptError, ReceiptReceiver } = sealedPush
      const { received } = await compiled(receiving, ['ReceiptError', 'ReceiptReceiver', 'process'], 'received')(ReceiptError, ReceiptReceiver, { env: { SENDER_SECRET: secret } })
      const body = phone.receipt(opened)
      assert.deepEqual(received(body).slice(0, 2), [204, sender.receiptDevice(device.recipient())])
      assert.deepEqual(received(body.subarray(1)), [400, 'wrong-size'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('lists every error', () => {
    for (const [name, type] of Object.entries(sealedPush)) {
      if (name !== 'SealedPushError' && type.prototype instanceof sealedPush.SealedPushError) assert.ok(readme.includes(`- \`${name}\`: `), name)
    }
  })
})
