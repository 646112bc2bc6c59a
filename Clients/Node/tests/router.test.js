// Every route and refusal of EnrollmentHTTP, with hostile bodies and with requests that race.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { Device, generateSenderSecret, Sender } from 'sealed-push'
import { bearerToken, PhoneRouter } from 'sealed-push/server'
import { Phone } from 'sealed-push/testing'
import { encode, ENROLLMENT_SECRET } from '../src/protocol/key-text.js'
import { App, backEnd, MemoryStore } from './back-end.js'
import { codeOf, hasMLKEM, NINA, now, readVectors, seeded, TOPIC } from './support.js'

const documents = new URL('../../../Docs/', import.meta.url)
const page = readFileSync(new URL('Codes.md', documents), 'utf8')

/** Checks a refusal's form, which is the same for all. */
function refused(answer, status, code, name = code) {
  const { body, headers } = answer
  assert.deepEqual([answer.status, body?.code], [status, code], `${name}: ${inspect(body)}`)
  assert.equal(headers.get('content-type'), 'application/problem+json', name)
  assert.equal(headers.get('cache-control'), 'no-store', name)
  assert.equal(body.type, `/Docs/Codes.md#${code}`, name)
  assert.ok(page.includes(`<a id="${code}"></a>`), code)
  assert.equal(body.status, status, name)
  assert.ok(typeof body.title === 'string' && typeof body.detail === 'string', name)
  assert.equal(headers.has('retry-after'), status === 429 || status === 503, name)
  return body
}

const setUp = (settings) => {
  const store = new MemoryStore()
  return { store, ...backEnd(store, settings) }
}

describe('PhoneRouter', () => {
  it('enrolls, rotates, repeats, unregisters, and lets another account have the phone', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    const first = await app.register()
    assert.equal(first.status, 200)
    assert.equal(first.body.device, app.phone.enrollment)
    assert.deepEqual(Object.keys(first.body.challenges[0]), ['challenge', 'state'])
    // Repeating a request changes nothing, and both challenges can be answered, each again within its time.
    const again = await app.register()
    assert.notEqual(again.body.challenges[0].challenge, first.body.challenges[0].challenge)
    for (const each of [...again.body.challenges, ...first.body.challenges]) assert.equal((await app.answer(each)).status, 204)
    const rows = structuredClone(server.store.rows)
    assert.equal((await app.answer(first.body.challenges[0])).status, 204)
    assert.deepEqual(server.store.rows, rows)
    assert.deepEqual((await app.register()).body.challenges, [])
    app.phone.rotate()
    const rotated = await app.register()
    assert.equal(rotated.body.challenges.length, 1)
    assert.equal((await app.answer(rotated.body.challenges[0])).status, 204)
    const [entry] = await server.store.devices('alice')
    assert.deepEqual(entry.state.proven, app.phone.recipients)
    // Another account can claim it, but not prove it, until this one has left.
    const other = new App(server, 'bob', app.phone)
    refused(await other.register(), 409, 'enrolled-elsewhere')
    refused(await new App(server, 'bob', app.phone).answer(rotated.body.challenges[0]), 404, 'unknown-device')
    for (const _ of [1, 2]) assert.equal((await app.send('DELETE', app.path)).status, 204)
    assert.deepEqual(await other.enroll(), [200, 204, 204])
    assert.deepEqual(server.store.rows.map(({ account }) => account), ['bob'])
    assert.deepEqual(server.failures, [])
  })

  it('keeps accounts apart until one has proven the key, and then drops the claims of others', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    const mallory = new App(server, 'mallory', app.phone)
    const claimed = await mallory.register()
    assert.equal(claimed.status, 200)
    const [challenge] = (await app.register()).body.challenges
    assert.equal(server.store.rows.length, 2)
    // An answer counts only in the account that was challenged.
    refused(await mallory.answer(challenge), 409, 'unknown-challenge')
    refused(await app.answer(claimed.body.challenges[0]), 409, 'unknown-challenge')
    assert.equal((await app.answer(challenge)).status, 204)
    assert.deepEqual(server.store.rows.map(({ account }) => account), ['alice'])
    refused(await mallory.answer(claimed.body.challenges[0]), 404, 'unknown-device')
    // A row that another program stored changes nothing about that.
    const late = new App(server, 'bob')
    const [asked] = (await late.register()).body.challenges
    server.store.rows.push({ ...structuredClone(server.store.rows.at(-1)), account: 'eve' })
    server.store.rows.at(-1).state.proven = late.phone.recipients
    refused(await late.answer(asked), 409, 'enrolled-elsewhere')
  })

  it('refuses records, and still stores the token of a known device', async () => {
    let time = now()
    const server = setUp({ clock: () => time })
    const app = new App(server, 'alice')
    await app.enroll()
    const old = app.phone.record
    app.phone.rotate()
    await app.enroll()
    app.token = 'abcd'
    time += 1
    const body = refused(await app.register(old), 409, 'rolled-back')
    assert.equal(body.record, app.phone.record)
    assert.deepEqual(server.store.rows.map(({ token, registeredMilliseconds }) => [token, registeredMilliseconds]), [['abcd', time * 1000]])
    assert.equal(refused(await app.register(app.phone.signRecord({ counter: 2, lifetime: 99 })), 409, 'conflicting').record, body.record)
    app.token = 'ef01'
    refused(await app.register(app.phone.signRecord({ counter: 9, created: time - 100, lifetime: 50 })), 422, 'expired')
    refused(await app.register(app.phone.signRecord({ counter: 9, created: time + 100_000 })), 422, 'not-yet-valid')
    assert.equal(server.store.rows[0].token, 'ef01')
    app.token = '0011'
    const rows = structuredClone(server.store.rows)
    const flipped = old.slice(0, 60) + (old[60] === 'A' ? 'B' : 'A') + old.slice(61)
    refused(await app.register(flipped), 400, 'wrong-checksum')
    refused(await app.register('pushrecord.AA'), 400, 'malformed')
    refused(await app.register(new Phone({ topic: TOPIC }).record), 400, 'malformed')
    const stranger = new App(server, 'alice', new Phone({ topic: 'com.example.other' }))
    refused(await stranger.register(), 409, 'other-topic')
    refused(await new App(server, 'alice').register(new App(server, 'alice').phone.record), 400, 'malformed')
    // A known device's record for another app.
    const enrollmentSecret = encode(ENROLLMENT_SECRET, randomBytes(32))
    const [own, other] = [TOPIC, 'com.example.other'].map((topic) => new Phone({ topic, enrollmentSecret }))
    const known = Object.assign(new App(server, 'carol', own), { token: '0011' })
    await known.register()
    known.token = 'abcdef'
    refused(await known.register(other.signRecord({ counter: 9 })), 409, 'other-topic')
    assert.equal(server.store.rows.pop().token, '0011')
    const expired = new App(server, 'alice')
    refused(await expired.register(expired.phone.signRecord({ created: time - 100, lifetime: 50 })), 422, 'expired')
    assert.deepEqual(server.store.rows, rows)
    assert.deepEqual(server.failures, [])
  })

  it("answers the vectors' records as a server does", async () => {
    const counts = {}
    for (const [name, values] of [...readVectors('Records/'), ...readVectors('Hybrid/')]) {
      // A back end has devices of one app only.
      if (values.kind !== 'device' || values.topic !== TOPIC || name === 'device-known-other-topic') continue
      const server = setUp({ clock: () => Number(values.now) })
      const { pinned, known, record, outcome } = values
      const entry = { account: 'alice', token: '00', environment: 'sandbox', registeredMilliseconds: 0 }
      const state = { enrollment: pinned, record: known, proven: [], challenges: [] }
      // A device's record is always of its own key.
      if (known !== undefined && codeOf(() => Device.fromJSON(state)) === 'foreign-signer') continue
      if (known !== undefined) server.store.rows.push({ enrollment: pinned, ...entry, state })
      const answer = await new App(server, 'alice').send('PUT', `/v1/phones/${pinned}`, { record, token: '00ff', environment: 'sandbox' })
      const expected = !hasMLKEM && values.key?.startsWith('pushpq.') ? 'unsupported' : outcome
      // A record of another key than the path's isn't compared with a stored one.
      assert.equal(answer.body.code ?? 'accepted', expected === 'foreign-signer' ? 'malformed' : expected, name)
      assert.equal(answer.body.record, ['rolled-back', 'conflicting'].includes(expected) ? known : undefined, name)
      counts[answer.status] = (counts[answer.status] ?? 0) + 1
      assert.deepEqual(server.failures, [], name)
    }
    assert.ok(counts[200] > 10 && counts[400] > 50 && counts[409] > 3 && counts[422] > 5, inspect(counts))
  })

  it('refuses answers that are late, wrong, unknown, or for a key that is gone', async () => {
    let time = now()
    const server = setUp({ clock: () => time })
    const app = new App(server, 'alice')
    const [asked] = (await app.register()).body.challenges
    const answer = app.phone.answer(asked.challenge)
    const post = (body) => app.send('POST', `${app.path}/answers`, body)
    refused(await post({ answer: 'pushanswer.AA', state: asked.state }), 400, 'malformed')
    refused(await post({ answer: `pushanswer.${'A'.repeat(43)}`, state: asked.state }), 409, 'wrong-answer')
    refused(await post({ answer: `pushanswer.${'A'.repeat(43)}`, state: 'x' }), 409, 'unknown-challenge')
    refused(await post({ answer }), 400, 'malformed')
    refused(await post({ answer, state: 'x'.repeat(4097) }), 400, 'malformed')
    refused(await post(JSON.stringify({ answer, state: '' }).replace('""', '"\\ud800"')), 400, 'malformed')
    refused(await post(Buffer.from(JSON.stringify({ answer, state: '\xff' }), 'latin1')), 400, 'malformed')
    refused(await new App(server, 'bob', app.phone).answer(asked), 404, 'unknown-device')
    time += 601
    refused(await app.answer(asked), 409, 'late')
    // The next registration drops challenges whose time is over.
    await app.register()
    refused(await app.answer(asked), 409, 'unknown-challenge')
    assert.deepEqual(server.failures, [])
  })

  it('refuses an answer for a key that is no longer in the record', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    const [asked] = (await app.register()).body.challenges
    const answer = app.phone.answer(asked.challenge)
    app.phone.rotate()
    app.phone.retire()
    await app.register()
    refused(await app.send('POST', `${app.path}/answers`, { answer, state: asked.state }), 409, 'not-in-record')
  })

  it('challenges hybrid keys', async (context) => {
    if (!hasMLKEM) return context.skip('needs Node 24.7 with OpenSSL 3.5')
    const server = setUp()
    const app = new App(server, 'alice', new Phone({ topic: TOPIC, trusting: [server.sender.publicKey], hybrid: true }))
    assert.deepEqual(await app.enroll(), [200, 204])
  })

  it('has room for the challenges of sixteen keys in one response', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    for (let left = 15; left > 0; left -= 1) app.phone.rotate()
    const { status, body } = await app.register()
    assert.deepEqual([status, body.challenges.length], [200, 16])
    assert.ok(JSON.stringify(body).length < 65536)
    for (const each of body.challenges) assert.equal((await app.answer(each)).status, 204)
    assert.deepEqual(server.store.rows[0].state.proven, app.phone.recipients)
  })

  it('takes a leaving without a login, in any account, and only for its topic and service', async () => {
    const server = setUp({ service: 'production' })
    const app = new App(server, 'alice')
    await app.enroll()
    const [before] = server.store.rows
    refused(await app.leave('staging'), 409, 'other-service')
    assert.equal(server.store.rows.length, 1)
    assert.equal((await app.leave('production')).status, 204)
    assert.deepEqual(server.store.rows, [])
    assert.equal((await app.leave('production')).status, 204)
    // Repeated after the phone has enrolled again, it has no effect.
    const leaving = app.phone.leave({ service: 'production' })
    await app.enroll()
    const post = (text) => app.send('POST', '/v1/leavings', { leaving: text }, { authorization: '' })
    assert.equal((await post(leaving)).status, 204)
    assert.equal(server.store.rows.length, 1)
    assert.notDeepEqual(server.store.rows[0].state, before.state)
    refused(await post(new Phone({ topic: 'com.example.other' }).leave({ service: 'production' })), 400, 'bad-signature')
    refused(await post('pushleaving.AA'), 400, 'malformed')
    refused(await post(leaving.slice(0, -4) + 'AAAA'), 400, 'bad-signature')
    for (const [name, values] of readVectors('Leavings/')) {
      if (values.topic !== TOPIC) continue
      const strict = setUp({ service: values.service })
      const { status, body } = await new App(strict, 'alice').send('POST', '/v1/leavings', { leaving: values.leaving })
      const statuses = { accepted: 204, 'other-service': 409 }
      assert.equal(status, statuses[values.outcome] ?? 400, name)
      assert.equal(body?.code ?? 'accepted', values.outcome, name)
    }
  })

  it('returns the sender set, also to HEAD', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    assert.deepEqual([(await app.send('GET', '/v1/sender-set')).status, (await app.send('HEAD', '/v1/sender-set')).status], [204, 204])
    const [, { record }] = readVectors('Records/').find(([, values]) => values.kind === 'senders' && values.outcome === 'accepted')
    server.router.senderSet = record
    assert.deepEqual((await app.send('GET', '/v1/sender-set')).body, { senderSet: record })
    const head = await app.send('HEAD', '/v1/sender-set')
    assert.deepEqual([head.status, head.body, head.headers.get('content-type')], [200, undefined, 'application/json'])
    assert.equal(codeOf(() => { server.router.senderSet = app.phone.record }), 'wrong-type')
    assert.equal(server.router.senderSet, record)
  })

  it('sends tests, or says why there is none', async () => {
    const sent = []
    let reason
    const server = setUp({ test: (entry, push) => (sent.push([entry, push]), reason) })
    const app = new App(server, 'alice')
    const test = () => app.send('POST', `${app.path}/test`)
    refused(await test(), 404, 'unknown-device')
    await app.register()
    assert.deepEqual((await test()).body.skipped, { unproven: 1 })
    await app.enroll()
    const { status, body } = await test()
    assert.equal(status, 202)
    assert.deepEqual({ ...body, id: sent[0][1].messageID }, { id: body.id, enqueued: 1, alreadyEnqueued: 0, skipped: {} })
    assert.match(app.phone.open(sent[0][1].payload).alert.body, /^It works/)
    assert.equal(sent[0][0].token, '00ff')
    reason = 'no-token'
    const skipped = await test()
    assert.deepEqual([skipped.status, skipped.body.enqueued, skipped.body.skipped], [202, 0, { 'no-token': 1 }])
    ;[reason, server.store.rows[0].token] = [undefined, null]
    assert.deepEqual((await test()).body.skipped, { 'no-token': 1 })
    assert.equal(sent.length, 2)
    refused(await test(), 429, 'too-many-requests')
    refused(await new App(setUp(), 'alice').send('POST', `${app.path}/test`), 404, 'no-such-path')
  })

  it('refuses a request without a login, and too many of one account', async () => {
    let time = now()
    const server = setUp({ clock: () => time })
    const app = new App(server, 'alice')
    for (const [method, path] of [['PUT', app.path], ['DELETE', app.path], ['POST', `${app.path}/answers`], ['GET', '/v1/sender-set']]) {
      const answer = await app.send(method, path, method === 'GET' ? undefined : '{', { authorization: '' })
      refused(answer, 401, 'unauthorized')
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
    for (let left = 60; left > 0; left -= 1) assert.equal((await app.send('GET', '/v1/sender-set')).status, 204)
    refused(await app.send('GET', '/v1/sender-set'), 429, 'too-many-requests')
    assert.equal((await new App(server, 'bob').send('GET', '/v1/sender-set')).status, 204)
    time += 2
    assert.equal((await app.send('GET', '/v1/sender-set')).status, 204)
  })

  it('limits the devices of an account, also in a race', async () => {
    const server = setUp({ clock: (() => { let time = now(); return () => (time += 1) })() })
    const apps = Array.from({ length: 101 }, () => new App(server, 'alice'))
    for (const app of apps.slice(0, 98)) assert.equal((await app.register()).status, 200)
    server.store.pause = () => new Promise(setImmediate)
    const answers = await Promise.all(apps.slice(98).map((app) => app.register()))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 409])
    assert.equal(server.store.rows.length, 100)
    refused(await new App(server, 'alice').register(), 409, 'too-many-devices')
    assert.equal((await apps[0].register()).status, 200)
    assert.equal((await new App(server, 'bob').register()).status, 200)
  })

  it('refuses other paths and methods', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    for (const path of ['/', '/v1', '/v1/phones', '/v1/phones/', `${app.path}/x`, `${app.path}/answers/`, '/v1/messages', '/V1/sender-set', '//v1/sender-set', `/x${app.path}`]) {
      refused(await app.send('GET', path), 404, 'no-such-path', path)
    }
    const methods = { [app.path]: 'DELETE, PUT', [`${app.path}/answers`]: 'POST', '/v1/sender-set': 'GET, HEAD', '/v1/leavings': 'POST' }
    for (const [path, allowed] of Object.entries(methods)) {
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY', 'PROPFIND']) {
        const answer = await app.send(method, path, undefined)
        if (allowed.split(', ').includes(method)) assert.notEqual(answer.status, 405, `${method} ${path}`)
        else if (method === 'HEAD') assert.deepEqual([answer.status, answer.body], [405, undefined])
        else if (method === 'PROPFIND') refused(answer, 501, 'unknown-method')
        else assert.equal((refused(answer, 405, 'wrong-method'), answer.headers.get('allow')), allowed)
      }
    }
    for (const key of ['x', '%00', '%zz', app.phone.recipients[0], `${app.phone.enrollment}%00`, app.phone.enrollment.slice(0, -1)]) {
      refused(await app.send('DELETE', `/v1/phones/${key}`), 400, 'malformed', key)
    }
    // The same key, in the other form of Specification 8.
    await app.enroll()
    assert.equal((await app.send('DELETE', app.path.replace(/push.*/, (key) => key.toUpperCase()))).status, 204)
    assert.deepEqual(server.store.rows, [])
    const below = setUp({ base: '/push/api' })
    const inner = new App({ ...below, url: 'http://localhost/push/api' }, 'alice')
    assert.deepEqual(await inner.enroll(), [200, 204])
    refused(await new App(below, 'alice').register(), 404, 'no-such-path')
  })

  it('refuses bodies that are huge, not UTF-8, not JSON, of a wrong type, or with other members', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    const { record } = app.phone
    const good = { record, token: '00ff', environment: 'sandbox' }
    const text = JSON.stringify(good)
    const put = (body, headers) => app.send('PUT', app.path, body, headers)
    const wrong = {
      nothing: '', 'not JSON': '{', array: `[${text}]`, text: '"x"', null: 'null', 'two objects': text + text,
      'name twice': text.replace('{', '{"token":"00aa",'), 'escaped name twice': text.replace('{', '{"t\\u006fken":"00aa",'),
      'unknown member': { ...good, extra: 'x' }, 'unknown null': { ...good, extra: null }, 'nested twice': { ...good, extra: { a: 1 } }, number: { ...good, token: 7 },
      list: { ...good, record: [record] }, object: { ...good, environment: {} }, 'no token': { record, environment: 'sandbox' },
      'null token': { ...good, token: null }, boolean: { ...good, record: true },
      'odd token': { ...good, token: 'abc' }, 'empty token': { ...good, token: '' }, 'long token': { ...good, token: 'ab'.repeat(101) },
      'token with a path': { ...good, token: '../3/device/ab' }, 'token with a line': { ...good, token: 'abcd\n' },
      environment: { ...good, environment: 'Sandbox' }, prototype: text.replace('{', '{"__proto__":{},'),
      surrogate: text.replace('00ff', '\\ud800'), deep: `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
      'not UTF-8': Buffer.concat([Buffer.from('{"record":"'), Buffer.of(0xff), Buffer.from('"}')]),
      'UTF-16': Buffer.from(text, 'utf16le'), 'zero byte': `${text}\0`, 'huge number': `{"record":1e999}`,
    }
    for (const [name, body] of Object.entries(wrong)) refused(await put(body), 400, 'malformed', name)
    assert.equal((await put(`\ufeff${text} \n`)).status, 200)
    for (const type of ['text/plain', 'application/jsonx', '', 'application/x-www-form-urlencoded', `application/json;${'x'.repeat(300)}`]) {
      refused(await put(text, { 'content-type': type }), 415, 'wrong-media-type', type)
    }
    assert.equal((await put(text, { 'content-type': 'Application/JSON; charset=utf-8' })).status, 200)
    const encoded = await put(text, { 'content-encoding': 'gzip' })
    refused(encoded, 415, 'encoded')
    assert.equal(encoded.headers.get('accept-encoding'), 'identity')
    const padded = (length) => text.padEnd(length)
    assert.equal((await put(padded(65_536))).status, 200)
    refused(await put(padded(65_537)), 413, 'body-too-large')
    const leave = (length) => app.send('POST', '/v1/leavings', JSON.stringify({ leaving: 'x' }).padEnd(length))
    refused(await leave(1024), 400, 'malformed')
    refused(await leave(1025), 413, 'body-too-large')
    assert.equal(server.store.rows.length, 1)
    assert.deepEqual(server.failures, [])
  })

  it('stops reading a body at the limit, and refuses one that breaks off', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    let pulled = 0
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024).fill(32, (pulled += 1) && 0)) })
    const headers = { authorization: 'Bearer alice', 'content-type': 'application/json' }
    const send = (body) => server.fetch(new Request(app.url + app.path, { method: 'PUT', headers, body, duplex: 'half' }))
    assert.equal((await send(endless)).status, 413)
    assert.ok(pulled < 70, `${pulled}`)
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) })
    const answer = await send(broken)
    assert.deepEqual([answer.status, (await answer.json()).code], [400, 'malformed'])
    // A body that the application has read is its own mistake.
    const read = new Request(app.url + app.path, { method: 'PUT', headers, body: '{}' })
    await read.text()
    assert.deepEqual([(await server.fetch(read)).status, server.failures.length], [503, 1])
  })

  it('loses nothing when requests for one phone race', async (context) => {
    const { next } = seeded(context)
    for (let round = 0; round < 20; round += 1) {
      const server = setUp()
      const phone = new Phone({ topic: TOPIC, trusting: [server.sender.publicKey] })
      const apps = ['alice', 'bob'].map((account) => new App(server, account, phone))
      server.store.pause = async () => {
        for (let left = next(4); left > 0; left -= 1) await new Promise(setImmediate)
      }
      // Each challenge that a phone gets can be answered, although requests that ran at the same time stored others.
      const registered = await Promise.all([...apps, ...apps, ...apps].map(async (app) => [app, await app.register()]))
      assert.ok(registered.every(([, { status }]) => status === 200))
      const answers = await Promise.all(registered.map(async ([app, { body }]) => [app.account, await app.answer(body.challenges[0])]))
      const owners = new Set(answers.filter(([, { status }]) => status === 204).map(([account]) => account))
      assert.equal(owners.size, 1)
      for (const [account, answer] of answers) {
        if (!owners.has(account)) assert.ok(['enrolled-elsewhere', 'unknown-device'].includes(answer.body.code), answer.body.code)
        else assert.equal(answer.status, 204)
      }
      assert.deepEqual(server.store.rows.map(({ account }) => account), [...owners])
      // Leaving wins over a registration of the record from before, or the phone is enrolled again.
      const app = apps.find(({ account }) => owners.has(account))
      const [{ status }] = await Promise.all([app.leave(), app.register(), app.register()])
      assert.equal(status, 204)
      assert.deepEqual(server.failures, [])
    }
  })

  it('answers 503 if a function or a stored row fails, and reports it without its text', async (context) => {
    const server = setUp()
    const app = new App(server, 'alice')
    await app.enroll()
    const failing = (settings) => new App(backEnd(server.store, { ...settings, report: undefined }), 'alice', app.phone)
    const printed = []
    context.mock.method(console, 'error', (text) => printed.push(text))
    const fail = () => { throw new Error('secret row') }
    for (const settings of [{ account: fail }, { account: () => 7 }, { account: () => '' }, { load: fail }, { load: () => ({}) }, { save: fail }, { save: () => undefined }, { save: () => false }]) {
      refused(await failing(settings).register(), 503, 'unavailable', inspect(settings))
    }
    server.store.rows[0].state = { enrollment: 'x' }
    refused(await app.register(), 503, 'unavailable')
    refused(await app.leave(), 503, 'unavailable')
    assert.equal(server.failures.length, 2)
    assert.equal(printed.length, 7)
    assert.ok(printed.every((text) => /^sealed-push: .* failed with \w+(: the function [^\n]*)?\n +at /.test(text) && !text.includes('secret')), inspect(printed))
    assert.equal(printed.filter((text) => text.includes(' failed with SettingError: ')).length, 4)
    refused(await failing({ report: fail, load: fail }).register(), 503, 'unavailable')
  })

  it('tells the developer if a function returned something else', async (context) => {
    const server = setUp()
    const printed = []
    context.mock.method(console, 'error', (text) => printed.push(text))
    for (const [settings, words] of [
      [{ account: () => 4711 }, 'the function account returned neither text nor undefined: return the name of the account as text: a number needs String(id)'],
      [{ load: () => [] }, 'the function load must return entries and others'], [{ save: () => 1 }, 'the function save must return true or false'],
    ]) {
      const app = new App(backEnd(server.store, { ...settings, report: undefined }), 'alice')
      const answer = await app.register()
      refused(answer, 503, 'unavailable')
      for (const text of [answer.body.detail, printed.pop()]) assert.ok(text.includes(words) && !text.includes('4711'), text)
    }
  })

  it('has no key to seal with while there is no sender', async () => {
    const server = setUp()
    const app = new App(server, 'alice')
    server.router.sender = undefined
    refused(await app.register(), 503, 'no-sender')
    server.router.sender = server.sender
    assert.deepEqual(await app.enroll(), [200, 204])
    assert.equal(codeOf(() => { server.router.sender = {} }), 'sender')
    assert.equal(codeOf(() => { server.router.sender = new Sender(generateSenderSecret(), { topic: 'com.example.other' }) }), 'other-topic')
    const [{ state }] = await server.store.devices('alice')
    assert.ok(app.phone.open(server.sender.seal(NINA, Device.fromJSON(state)).payload))
  })

  it('refuses wrong settings, and shows no secret', () => {
    const { sender } = setUp()
    const [account, load, save] = [() => 'alice', () => {}, () => {}]
    const code = (settings) => codeOf(() => new PhoneRouter({ sender, account, load, save, ...settings }))
    assert.equal(code({}), undefined)
    assert.equal(code({ sender: {} }), 'sender')
    for (const name of ['account', 'load', 'save', 'test', 'report', 'clock']) assert.equal(code({ [name]: 7 }), 'functions', name)
    assert.equal(code({ load: undefined }), 'functions')
    assert.equal(code({ service: 'a b' }), 'service')
    assert.equal(code({ senderSet: 'x' }), 'malformed')
    for (const base of ['push', '/push/', '/', 7, '/a b']) assert.equal(code({ base }), 'base', `${base}`)
    assert.equal(code({ topic: TOPIC }), 'options')
    assert.equal(inspect(new PhoneRouter({ sender, account, load, save })), `PhoneRouter(${TOPIC})`)
    const token = (authorization) => bearerToken(new Request('http://a', { headers: { authorization } }))
    assert.deepEqual(['Bearer x', 'bearer  x ', 'Basic x', 'Bearer', 'Bearer x y', '', `Bearer ${'x'.repeat(600)}`].map(token), ['x', 'x', undefined, undefined, undefined, undefined, undefined])
    assert.deepEqual([{ authorization: 'Bearer x' }, {}].map((headers) => bearerToken({ headers })), ['x', undefined])
  })
})

describe('A device in a keyring', () => {
  it('enrolls with the router by the commands, rotates, and shows the test', async (context) => {
    const programs = process.env.SEALED_PUSH_PROGRAMS
    if (!programs) return context.skip('set SEALED_PUSH_PROGRAMS to the folder of sealedpush and device-simulator')
    const folder = mkdtempSync(join(tmpdir(), 'router'))
    try {
      const run = (program, ...words) => {
        const { status, stdout, stderr } = spawnSync(join(programs, program), words, { cwd: folder, encoding: 'utf8' })
        assert.equal(status, 0, stderr)
        return stdout.trim()
      }
      const keys = (...words) => run('sealedpush', 'keys', ...words, '--keyring', 'Keys')
      keys('generate', 'sender', 'newsroom')
      keys('generate', 'device', 'phone', '--topic', TOPIC)
      const [, enrollment] = /enrollment: +(\S+)/.exec(keys('show', 'phone'))
      const pushes = []
      const sender = new Sender(keys('export', 'newsroom', '--secret', '--yes'), { topic: TOPIC })
      const server = setUp({ sender, test: (entry, push) => { pushes.push(push) } })
      const app = new App(server, 'alice', {
        enrollment, answer: (challenge) => keys('challenge', 'phone', '--reply', challenge, '--trust', 'newsroom'),
        get record() { return keys('export', 'phone', '--record') },
      })
      assert.deepEqual(await app.enroll(), [200, 204])
      keys('rotate', 'phone')
      assert.deepEqual(await app.enroll(), [200, 204])
      assert.equal((await app.send('POST', `${app.path}/test`)).body.enqueued, 1)
      writeFileSync(join(folder, 'test.apns'), pushes[0].payload)
      const shown = run('device-simulator', 'deliver', 'test.apns', '--device', 'phone', '--trust', 'newsroom', '--topic', TOPIC, '--keyring', 'Keys', '--state', 'State', '--json')
      assert.equal(JSON.parse(shown).body, 'It works: this message was sealed for this device alone.')
      assert.deepEqual(server.failures, [])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
