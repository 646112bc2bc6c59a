// The sender of pushes: against servers that answer badly or not at all, and against the local APNs with its faults.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import tls from 'node:tls'
import { inspect } from 'node:util'
import { APNs, generateSenderSecret, Sender } from 'sealed-push'
import { codeOf, enrolled, NINA, TOPIC, VECTORS } from './support.js'

const folder = mkdtempSync(join(tmpdir(), 'apns'))
const [keyFile, certFile] = ['key.pem', 'cert.pem'].map((name) => join(folder, name))
const made = spawnSync('openssl', [
  'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2',
  '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost',
])
const hasCertificate = made.status === 0
const [key, cert] = hasCertificate ? [keyFile, certFile].map((name) => readFileSync(name)) : []
const provider = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1', publicKeyEncoding: { format: 'pem', type: 'spki' }, privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
})
const pem = provider.privateKey
const settings = { key: pem, keyID: 'ABCDE12345', teamID: 'FGHIJ67890', ca: cert }
const sender = new Sender(generateSenderSecret(), { topic: TOPIC })
const push = sender.seal(NINA, enrolled(sender).device)
const closing = []

after(async () => {
  for (const close of closing) close()
  rmSync(folder, { recursive: true })
})

/** Returns an APNs for a server on this machine, whose connections are cut after the tests. */
async function connected(server, more = {}) {
  const sockets = new Set()
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.cut = () => { for (const each of sockets) each.destroy() }
  closing.push(() => { server.close(); server.cut() })
  return new APNs({ ...settings, server: `https://localhost:${server.address().port}`, ...more })
}

/** Returns an APNs for an HTTP/2 server that calls `answer` with each stream and its headers, and the server. */
async function answering(answer, more) {
  const server = http2.createSecureServer({ key, cert })
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    answer(stream, headers)
  })
  return [await connected(server, more), server]
}

function reply(stream, status, body = '') {
  stream.respond({ ':status': status }, { endStream: body === '' })
  if (body !== '') stream.end(body)
}

const reason = (text, more) => JSON.stringify({ reason: text, ...more })

describe('APNs', { skip: !hasCertificate && 'needs openssl' }, () => {
  it('sends a push unchanged, with all headers, and shares one connection and one provider token', async () => {
    const seen = []
    const [apns, server] = await answering(async (stream, headers) => {
      const chunks = []
      for await (const chunk of stream) chunks.push(chunk)
      seen.push([headers, Buffer.concat(chunks)])
      reply(stream, 200)
    })
    let connections = 0
    server.on('session', () => { connections += 1 })
    const stored = JSON.parse(JSON.stringify(push))
    for (const each of [push, stored, { ...push, payload: new Uint8Array(push.payload) }]) {
      assert.deepEqual(await apns.send(each, '00ff'), { outcome: 'accepted', status: 200, reason: undefined, timestamp: undefined })
    }
    await Promise.all(Array.from({ length: 50 }, () => apns.send(push, 'AA')))
    assert.equal(seen.length, 53)
    assert.equal(connections, 1)
    const token = seen[0][0].authorization
    for (const [headers, body] of seen) {
      assert.ok(body.equals(push.payload))
      for (const [name, value] of Object.entries(push.headers)) assert.equal(headers[name], value)
      assert.deepEqual([headers[':method'], headers.authorization], ['POST', token])
    }
    assert.deepEqual(seen.slice(0, 4).map(([headers]) => headers[':path']), [...Array(3).fill('/3/device/00ff'), '/3/device/AA'])
    const [header, claims, signature] = token.replace(/^bearer /, '').split('.')
    const read = (part) => JSON.parse(Buffer.from(part, 'base64url'))
    assert.deepEqual(read(header), { alg: 'ES256', kid: 'ABCDE12345' })
    assert.equal(read(claims).iss, 'FGHIJ67890')
    assert.ok(Math.abs(read(claims).iat - Date.now() / 1000) < 60)
    const how = { key: createPublicKey(provider.publicKey), dsaEncoding: 'ieee-p1363' }
    assert.ok(verify('sha256', Buffer.from(`${header}.${claims}`), how, Buffer.from(signature, 'base64url')))
    apns.close()
    assert.equal((await apns.send(push, '00ff')).outcome, 'accepted')
    assert.equal(connections, 2)
  })

  it('reads each response as what it means', async () => {
    const time = 1_760_000_000_000
    const page = '<html><body>502 Bad Gateway</body></html>'
    let current
    const [apns] = await answering((stream) => reply(stream, ...current))
    const lines = readFileSync(new URL('Text/apns.tsv', VECTORS), 'utf8').trimEnd().split('\n').filter((line) => !line.startsWith('#'))
    assert.equal(lines.length, 67)
    const listed = lines.map((line) => line.split('\t')).map(([status, text, timestamp, outcome]) => {
      const members = { ...(text && { reason: text }), ...(timestamp && { timestamp: Number(timestamp) }) }
      return [Number(status), JSON.stringify(members), outcome, members.reason, members.timestamp]
    })
    const cases = [
      ...listed,
      [200, '', 'accepted'], [200, page, 'accepted'], [200, reason('Something'), 'accepted', 'Something'],
      ...[null, String(time), time + 0.5, -1, 0, 1e30, true, [time]].map((timestamp) =>
        [410, reason('Unregistered', { timestamp }), 'unknown', 'Unregistered']),
      [410, page, 'unknown'], [410, '', 'unknown'], [400, '', 'unknown'], [401, '', 'stop'], [403, page, 'stop'], [405, '', 'wrong'],
      ...[502, 503, 504, 599].map((status) => [status, page, 'retry']), [308, page, 'unknown'], [204, '', 'unknown'], [421, '', 'unknown'],
      // Whatever a gateway writes is not repeated.
      ...['{"reason":["a"]}', '{"reason":"a b"}', '{"reason":"a\\u001b[2J"}', `{"reason":"${'a'.repeat(65)}"}`, '[]', 'null', '7', '"x"', '{'].map(
        (body) => [503, body, 'retry']),
      [503, 'x'.repeat(1_000_000), 'retry'],
    ]
    for (const [status, body, outcome, text, timestamp] of cases) {
      current = [status, body]
      assert.deepEqual(await apns.send(push, '00ff'), { outcome, status, reason: text, timestamp }, `${status} ${body.slice(0, 60)}`)
    }
  })

  it('says that a server is unreachable', async () => {
    const server = net.createServer()
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address()
    await new Promise((resolve) => server.close(resolve))
    const none = { outcome: 'retry', status: undefined, timestamp: undefined }
    const apns = new APNs({ ...settings, server: `https://localhost:${port}` })
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await apns.send(push, '00ff'), { ...none, reason: 'unreachable', detail: 'ECONNREFUSED' })
    }
    const nowhere = new APNs({ ...settings, server: 'https://host.invalid' })
    const { detail, ...answer } = await nowhere.send(push, '00ff')
    assert.deepEqual(answer, { ...none, reason: 'unreachable' })
    assert.match(detail, /^E/)
    // A certificate that nobody vouches for.
    const [stranger] = await answering((stream) => reply(stream, 200), { ca: undefined })
    assert.equal((await stranger.send(push, '00ff')).reason, 'unreachable')
  })

  it('gives up on servers that are silent at each stage, and uses another connection for the next push', async () => {
    const silent = [net.createServer(() => {}), tls.createServer({ key, cert, ALPNProtocols: ['h2'] }, () => {})]
    for (const server of silent) {
      const apns = await connected(server, { timeoutSeconds: 1 })
      const answers = await Promise.all([1, 2].map(() => apns.send(push, '00ff')))
      assert.deepEqual(answers.map(({ outcome }) => outcome), ['retry', 'retry'])
      // The other one ends with the connection if that was never established.
      assert.ok(answers.some(({ reason }) => reason === 'timed-out') && answers.every(({ reason }) => ['timed-out', 'unreachable'].includes(reason)))
    }
    let isSilent = true
    const [apns, server] = await answering((stream) => isSilent || reply(stream, 200), { timeoutSeconds: 1 })
    const sessions = []
    server.on('session', (session) => sessions.push(session))
    assert.equal((await apns.send(push, '00ff')).reason, 'timed-out')
    isSilent = false
    // On a busy machine, even this server may be late.
    while ((await apns.send(push, '00ff')).outcome !== 'accepted') continue
    assert.ok(sessions.length >= 2)
  })

  it('survives connections that are reset, closed, or not HTTP/2', async () => {
    const page = 'HTTP/1.1 400 Bad Request\r\ncontent-type: text/html\r\n\r\n<html>nginx</html>'
    for (const [name, server] of Object.entries({
      'reset at once': net.createServer((socket) => socket.resetAndDestroy()),
      'closed at once': net.createServer((socket) => socket.end()),
      'an HTTP/1.1 page': tls.createServer({ key, cert }, (socket) => socket.end(page)),
      'an HTTP/1.1 page in the clear': net.createServer((socket) => socket.end(page)),
      'garbage after the settings': tls.createServer({ key, cert, ALPNProtocols: ['h2'] }, (socket) => {
        socket.write(Buffer.from('000000040000000000', 'hex'))
        socket.write(Buffer.alloc(100, 0xff))
      }),
      'closed after the settings': tls.createServer({ key, cert, ALPNProtocols: ['h2'] }, (socket) => {
        socket.end(Buffer.from('000000040000000000', 'hex'))
      }),
    })) {
      server.on('tlsClientError', () => {})
      server.on('secureConnection', (socket) => socket.on('error', () => {}))
      // Node doesn't report all garbage.
      const apns = await connected(server, { timeoutSeconds: name.startsWith('garbage') ? 1 : 30 })
      for (let count = 0; count < 2; count += 1) {
        const { outcome, reason } = await apns.send(push, '00ff')
        assert.equal(outcome, 'retry', name)
        assert.ok(['unreachable', 'connection-lost', ...(name.startsWith('garbage') ? ['timed-out'] : [])].includes(reason), `${name}: ${reason}`)
      }
    }
  })

  it('survives each way to end a request or a connection, and sends the next push', async () => {
    const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants
    const ends = {
      'a reset': (stream) => stream.close(NGHTTP2_CANCEL),
      'a refused stream': (stream) => stream.close(NGHTTP2_REFUSED_STREAM),
      'GOAWAY without the request': ({ session }) => session.goaway(NGHTTP2_NO_ERROR, 0),
      'GOAWAY, then the end': ({ session }) => { session.goaway(NGHTTP2_NO_ERROR, 0); session.destroy() },
      'GOAWAY with an error': ({ session }) => session.goaway(NGHTTP2_ENHANCE_YOUR_CALM, 0),
      'a cut connection': () => server.cut(),
      'a cut response': (stream) => { stream.respond({ ':status': 503 }); stream.write('{"rea'); stream.session.destroy() },
      'a reset after the head': (stream) => { stream.respond({ ':status': 503 }); stream.close(NGHTTP2_CANCEL) },
    }
    let end
    const [apns, server] = await answering((stream) => (end ? end(stream) : reply(stream, 200)))
    for (const [name, each] of Object.entries(ends)) {
      end = each
      const answers = await Promise.all([1, 2, 3].map(() => apns.send(push, '00ff')))
      for (const { outcome, reason, status } of answers) {
        assert.equal(outcome, 'retry', name)
        // If the response was cut, its status may have arrived.
        if (status === undefined) assert.equal(reason, 'connection-lost', name)
        else assert.ok(status === 503 && reason === undefined && / after the head|cut response/.test(name), name)
      }
      end = undefined
      assert.equal((await apns.send(push, '00ff')).outcome, 'accepted', name)
    }
    // The responses to earlier requests still arrive after a GOAWAY, and new ones use another connection.
    let goAway = false
    const [polite, other] = await answering((stream, headers) => {
      if (headers[':path'].endsWith('/aa')) return setTimeout(() => reply(stream, 200), 200)
      if (goAway) { goAway = false; stream.session.goaway(NGHTTP2_NO_ERROR, stream.id) }
      reply(stream, 200)
    })
    let connections = 0
    other.on('session', () => { connections += 1 })
    await polite.send(push, '00ff')
    goAway = true
    const slow = polite.send(push, 'aa')
    assert.deepEqual([(await polite.send(push, '00ff')).outcome, (await polite.send(push, '00ff')).outcome, (await slow).outcome], Array(3).fill('accepted'))
    assert.equal(connections, 2)
  })

  it('renews the provider token after 50 minutes, and if Apple says that it has expired, but not within 20 minutes', async (context) => {
    const clock = Date.now
    context.after(() => { Date.now = clock })
    const tokens = []
    let expired = false
    const [apns] = await answering((stream, headers) => {
      tokens.push(headers.authorization)
      if (expired) reply(stream, 403, reason('ExpiredProviderToken'))
      else reply(stream, 200)
    })
    let passed = 0
    Date.now = () => clock() + passed
    const count = async (minutes) => {
      passed += minutes * 60_000
      await apns.send(push, '00ff')
      return new Set(tokens).size
    }
    assert.deepEqual([await count(0), await count(49), await count(1), await count(49)], [1, 1, 2, 2])
    expired = true
    // 49 minutes old: the next push has a new one, which is then too young to be replaced.
    assert.deepEqual([await count(0), await count(0), await count(1), await count(18)], [2, 3, 3, 3])
    assert.deepEqual([await count(1), await count(0)], [3, 4])
    // The clock is set back by an hour.
    expired = false
    assert.equal(await count(-60), 5)
  })

  it('keeps no process running, and refuses wrong arguments, without showing a secret', async () => {
    const [apns] = await answering((stream) => reply(stream, 200))
    const script = `
import { readFileSync } from 'node:fs'
import { APNs } from 'sealed-push'
const [server, key, ca, push] = process.argv.slice(1)
const apns = new APNs({ key: readFileSync(key), keyID: 'ABCDE12345', teamID: 'FGHIJ67890', server, ca: readFileSync(ca) })
console.log((await apns.send(JSON.parse(push), '00ff')).outcome)`
    const server = http2.createSecureServer({ key, cert }).on('stream', (stream) => reply(stream, 200))
    await connected(server)
    const child = spawn(process.execPath, [
      '--input-type=module', '-e', script, `https://localhost:${server.address().port}`, keyFile, certFile,
      JSON.stringify(push),
    ], { cwd: new URL('..', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.on('data', (text) => { printed += text })
    assert.equal(await new Promise((resolve) => child.on('exit', resolve)), 0)
    assert.equal(printed, 'accepted\n')

    const secret = 'not-to-be-shown'
    const make = (change) => () => new APNs({ ...settings, environment: 'sandbox', ...change })
    const wrong = {
      'provider-key': [undefined, null, 7, '', secret, pem.slice(0, -40), generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }),
        generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export({ format: 'pem', type: 'pkcs8' })].map((each) => ({ key: each })),
      'provider-id': [undefined, '', 'abcde12345', 'ABCDE1234', `ABCDE12345\r\n${secret}`, 7].flatMap((each) => [{ keyID: each }, { teamID: each }]),
      environment: [undefined, 'development', 'toString', null, secret].map((each) => ({ environment: each })),
      server: ['', 'x', 'http://localhost', `https://user:${secret}@localhost`, `https://${secret}@localhost`, null, 7].map((each) => ({ server: each })),
      ca: [7, {}, true].map((each) => ({ ca: each })),
      timeout: [0, -1, 601, NaN, '30 s', null].map((each) => ({ timeoutSeconds: each })),
      options: [{ proxy: secret }],
    }
    for (const [code, changes] of Object.entries(wrong)) {
      for (const change of changes) {
        assert.equal(codeOf(make(change)), code, inspect(change))
        try {
          make(change)()
        } catch (error) {
          for (const text of [inspect(error, { depth: 9 }), error.stack, String(error)]) assert.ok(!text.includes(secret), text)
        }
      }
    }
    const rejected = async (each, token) => {
      try {
        await apns.send(each, token)
      } catch (error) {
        assert.ok(![inspect(error, { depth: 9 }), error.stack].join().includes(secret))
        return error.code
      }
    }
    for (const token of [undefined, null, '', 'a', 'xy', '../3', `00${secret}`, '00'.repeat(101), '00\n', 7]) {
      assert.equal(await rejected(push, token), 'device-token', `${token}`)
    }
    const { headers } = push
    for (const each of [undefined, null, {}, { payload: 'x' }, { payload: 'x', headers: {} }, { payload: '', headers }, { payload: 'x'.repeat(4097), headers },
      { payload: { type: 'Buffer', data: [1] }, headers }, { payload: 'x', headers: { ...headers, authorization: secret } },
      { payload: 'x', headers: { ...headers, 'apns-topic': `a\r\n${secret}` } }, { payload: 'x', headers: { ...headers, 'apns-priority': 10 } },
      { payload: 'é'.repeat(2049), headers }]) {
      assert.equal(await rejected(each, '00ff'), 'push', inspect(each))
    }
    const shown = inspect(new APNs({ ...settings, environment: 'sandbox' }), { depth: 9, showHidden: true }) + JSON.stringify(apns) + String(apns)
    assert.ok(shown.startsWith('APNs(sandbox, key ABCDE12345)'), shown)
    for (const line of pem.split('\n').slice(1, -2)) assert.ok(!shown.includes(line))
  })

  it('delivers each push once through the local APNs with its faults, if the caller retries', async (context) => {
    const programs = process.env.SEALED_PUSH_PROGRAMS
    if (!programs) return context.skip('set SEALED_PUSH_PROGRAMS to the folder of sealedpush and device-simulator')
    const keys = (...words) => {
      const { status, stdout, stderr } = spawnSync(join(programs, 'sealedpush'), ['keys', ...words, '--keyring', 'Keys'], { cwd: folder, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      return stdout.trim()
    }
    keys('generate', 'sender', 'newsroom')
    const recipient = keys('generate', 'device', 'phone', '--topic', TOPIC)
    const own = new Sender(keys('export', 'newsroom', '--secret', '--yes'), { topic: TOPIC })
    const faults = { resets: 0.1, lostResponses: 0.1, tooManyRequests: 0.1, serverErrors: 0.1, unavailable: 0.1, goAwayEvery: 7 }
    const running = []
    const start = (...words) => {
      const child = spawn(join(programs, 'device-simulator'), words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
      const events = []
      let rest = ''
      child.stdout.on('data', (text) => {
        const lines = `${rest}${text}`.split('\n')
        rest = lines.pop()
        for (const line of lines) events.push(JSON.parse(line))
      })
      running.push(child)
      return { child, events }
    }
    const until = async (what, condition) => {
      while (!condition()) {
        for (const child of running) assert.equal(child.exitCode, null, what)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    try {
      start('apns', '--folder', 'APNs', '--faults', JSON.stringify(faults), '--json', '--log', 'off')
      const file = join(folder, 'APNs/address.json')
      await until('the local APNs', () => existsSync(file))
      const local = JSON.parse(readFileSync(file))
      const phone = start('run', '--device', 'phone', '--apns', 'APNs', '--topic', TOPIC, '--trust', 'newsroom', '--keyring', 'Keys', '--state', 'State', '--json')
      const ofKind = (kind) => phone.events.filter((each) => each.event === kind)
      await until('the phone', () => ofKind('online').length > 0)
      const [{ token }] = ofKind('online')
      const apns = new APNs({
        key: readFileSync(local.key), keyID: local.keyID, teamID: local.teamID, server: `https://localhost:${local.port}`, ca: readFileSync(local.root),
        timeoutSeconds: 5,
      })
      const outcomes = new Set()
      await Promise.all(Array.from({ length: 60 }, async (_, index) => {
        const each = own.sealUnverified({ alert: { title: 'Nina', body: `message ${index}` } }, recipient)
        for (;;) {
          const answer = await apns.send(each, token)
          outcomes.add(answer.status ?? answer.reason)
          if (answer.outcome === 'accepted') return
          assert.equal(answer.outcome, 'retry', inspect(answer))
        }
      }))
      const opened = () => ofKind('notification').filter((each) => each.outcome === 'opened' && !each.replaced).map((each) => each.body)
      await until('all notifications', () => new Set(opened()).size === 60)
      assert.equal(opened().length, 60)
      assert.ok(outcomes.size >= 3, inspect(outcomes))
      const removed = await apns.send(own.sealUnverified(NINA, recipient), '00'.repeat(32))
      assert.ok(['refused', 'retry'].includes(removed.outcome), inspect(removed))
    } finally {
      for (const child of running.reverse()) {
        const hasEnded = new Promise((resolve) => child.on('exit', resolve))
        // It writes to the folder, which is removed next, until it has ended.
        if (child.kill()) await hasEnded
      }
    }
  })
})
