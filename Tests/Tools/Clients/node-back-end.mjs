#!/usr/bin/env node
// A back end with the router of Clients/Node, to which every bearer token is the name of an account. Prints its port.
// Usage: SENDER_SECRET=PUSH-SENDER-SECRET-KEY-1... node-back-end.mjs
//   GET /rows  returns what is stored, and the payloads of the tests that were sent

import http from 'node:http'
import { Sender } from '../../../Clients/Node/src/index.js'
import { bearerToken, PhoneRouter } from '../../../Clients/Node/src/server/index.js'
import { MemoryStore } from '../../../Clients/Node/tests/back-end.js'

const sender = new Sender(process.env.SENDER_SECRET, { topic: 'com.example.app' })
const store = new MemoryStore()
const payloads = []
const test = (entry, push) => { payloads.push(push.payload.toString()) }
const router = new PhoneRouter({ sender, account: bearerToken, load: store.load, save: store.save, test })
const server = http.createServer((request, response) => {
  if (request.url === '/rows') response.end(JSON.stringify({ rows: store.rows, payloads }))
  else router.middleware(request, response)
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
