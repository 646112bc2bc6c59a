// The middleware, in node:http and in Express.

import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { after, describe, it } from 'node:test'
import { App, backEnd, installed, MemoryStore } from './back-end.js'

const express = installed('express')
const missing = express === undefined && "needs Express, as in Debian's node-express"
const servers = []
after(() => servers.forEach((server) => {
  server.close()
  server.closeAllConnections()
}))

/** Returns the back end, and the URL of a server with this listener. */
async function listening(listener, back = backEnd(new MemoryStore())) {
  const server = http.createServer(listener(back.router))
  servers.push(server)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { ...back, fetch, port: server.address().port, url: `http://127.0.0.1:${server.address().port}` }
}

/** Sends bytes, and returns all that comes back. */
const sendRaw = (port, text) => new Promise((resolve, reject) => {
  let answer = ''
  const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
  socket.setEncoding('latin1').on('data', (data) => { answer += data }).on('end', () => resolve(answer)).on('error', reject)
})

/** A life of a phone, with the refusals that depend on how a body is read. */
async function lives(back) {
  const app = new App(back, 'alice')
  assert.deepEqual(await app.enroll(), [200, 204])
  app.phone.rotate()
  assert.deepEqual(await app.enroll(), [200, 204])
  const refusals = [
    [await app.send('PUT', app.path, '{'), 400, 'malformed'],
    [await app.send('PUT', app.path, JSON.stringify({ record: 'x'.repeat(1 << 20) })), 413, 'body-too-large'],
    [await app.send('PUT', app.path, '{}', { 'content-type': 'text/plain' }), 415, 'wrong-media-type'],
    [await app.send('POST', '/v1/leavings', JSON.stringify({ leaving: 'x'.repeat(1024) })), 413, 'body-too-large'],
    [await app.send('PUT', app.path, '{}', { authorization: '' }), 401, 'unauthorized'],
    [await app.send('PATCH', app.path), 405, 'wrong-method'],
  ]
  for (const [{ status, body, headers }, expected, code] of refusals) {
    assert.deepEqual([status, body.code, headers.get('content-type')], [expected, code, 'application/problem+json'])
  }
  assert.equal((await app.send('GET', '/v1/sender-set')).status, 204)
  assert.equal((await app.send('HEAD', '/v1/sender-set')).status, 204)
  assert.equal((await app.leave()).status, 204)
  assert.equal((await app.send('DELETE', app.path)).status, 204)
  assert.deepEqual(back.failures, [])
}

describe('The middleware', () => {
  it('serves phones from node:http, and refuses the rest', async () => {
    const back = await listening((router) => router.middleware)
    await lives(back)
    const app = new App(back, 'alice')
    assert.equal((await app.send('GET', '/elsewhere')).body.code, 'no-such-path')
    const line = (first, rest = '') => sendRaw(back.port, `${first} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}\r\n`)
    assert.match(await line('TRACE /v1/sender-set'), /^HTTP\/1.1 405 /)
    assert.match(await line('PROPFIND /v1/sender-set'), /^HTTP\/1.1 501 /)
    assert.match(await line('OPTIONS *'), /^HTTP\/1.1 404 /)
    assert.match(await line('GET http://elsewhere/v1/sender-set'), /^HTTP\/1.1 404 /)
    assert.match(await line('GET //elsewhere/v1/sender-set'), /^HTTP\/1.1 404 /)
    assert.match(await line('GET /v1/sender-set', 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n'), /^HTTP\/1.1 401 /)
    // The connection is used again after a body that is too large.
    const head = (length, end) => `PUT ${app.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer a\r\nContent-Length: ${length}\r\n${end}\r\n`
    const both = await sendRaw(back.port, head(200_000, '') + 'x'.repeat(200_000) + head(2, 'Connection: close\r\n') + '{}')
    assert.deepEqual([...both.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status), ['413', '400'])
    assert.deepEqual(back.failures, [])
  })

  it('serves phones in Express, below a path, and leaves the rest to it', { skip: missing }, async () => {
    const seen = []
    const back = await listening((router) => {
      const app = express()
      app.use('/push', router.middleware)
      app.use(express.json())
      app.post('/messages', (request, response) => { seen.push(request.body); response.sendStatus(201) })
      return app
    })
    await lives({ ...back, url: `${back.url}/push` })
    const app = new App(back, 'alice')
    assert.equal((await fetch(`${back.url}/v1/sender-set`)).status, 404)
    assert.equal((await fetch(`${back.url}/push/v1/elsewhere`)).status, 404)
    assert.equal((await app.send('POST', '/messages', { text: 'x' }).catch(({ message }) => message)).includes?.('JSON'), true)
    assert.deepEqual(seen, [{ text: 'x' }])
  })

  it('gives Express\'s request to the function that finds the account', { skip: missing }, async () => {
    const back = backEnd(new MemoryStore(), { account: (request, { user }) => user })
    const served = await listening((router) => express().use((request, response, next) => {
      request.user = request.get('x-session')
      setTimeout(next, 5)
    }).use(router.middleware), back)
    const app = new App(served, 'nobody')
    const put = (session) => app.send('PUT', app.path, { record: app.phone.record, token: '00', environment: 'sandbox' }, { 'x-session': session })
    assert.equal((await put('alice')).status, 200)
    assert.deepEqual((await put('alice')).status, 200)
    assert.equal((await app.register()).status, 401)
  })

  it('tells the application that it must come before a parser of bodies', { skip: missing }, async () => {
    const errors = []
    const back = await listening((router) => express().use(express.json()).use(router.middleware).use((error, request, response, next) => {
      errors.push(error.message)
      response.status(500).json({})
    }))
    const app = new App(back, 'alice')
    const headers = { authorization: 'Bearer alice', 'content-type': 'application/json' }
    assert.equal((await fetch(back.url + app.path, { method: 'PUT', headers, body: '{}' })).status, 500)
    assert.match(errors[0], /must come before express.json/)
    assert.equal((await app.send('DELETE', app.path)).status, 204)
  })

  it('answers nothing if the phone ends the connection, and goes on', async () => {
    const store = new MemoryStore()
    const back = await listening((router) => router.middleware, backEnd(store))
    const app = new App(back, 'alice')
    const socket = net.connect(back.port, '127.0.0.1')
    await new Promise((resolve) => socket.write(`PUT ${app.path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{`, resolve))
    socket.destroy()
    assert.deepEqual(await app.enroll(), [200, 204])
    assert.equal(store.rows.length, 1)
    assert.deepEqual(back.failures, [])
  })
})
