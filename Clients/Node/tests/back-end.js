// Shared by the tests of `sealed-push/server`: a store in memory, a client that acts as the app, and a server of PostgreSQL.

import { execFile, spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Sender, generateSenderSecret } from 'sealed-push'
import { bearerToken, PhoneRouter } from 'sealed-push/server'
import { Phone } from 'sealed-push/testing'
import { TOPIC } from './support.js'

/** The store that the others are compared with. `pause` is awaited before each answer, so that requests race. */
export class MemoryStore {
  rows = []
  pause = () => {}

  load = async (enrollment, account) => {
    await this.pause()
    return structuredClone(this.#found(enrollment, account))
  }

  save = async (enrollment, account, found, entries) => {
    await this.pause()
    if (JSON.stringify(this.#found(enrollment, account)) !== JSON.stringify(found)) return false
    const isOld = (row) => entries.some((each) => each.state.proven.length > 0 && each.account === row.account && each.token === row.token)
    this.rows = this.rows.filter((row) => row.enrollment !== enrollment && !isOld(row))
    this.rows.push(...structuredClone(entries).map((each) => ({ enrollment, ...each })))
    return true
  }

  async devices(account) {
    return this.rows.filter((row) => row.account === account && row.state.proven.length > 0).map(({ enrollment, ...entry }) => entry)
  }

  #found(enrollment, account) {
    const entries = this.rows.filter((row) => row.enrollment === enrollment).map(({ enrollment: _, ...entry }) => entry)
    const others = this.rows.filter((row) => row.account === account && row.enrollment !== enrollment).length
    return { entries: entries.sort((one, other) => (one.account < other.account ? -1 : 1)), others }
  }
}

/** Returns a router over a store, to which every bearer token is the name of an account. */
export function backEnd(store, settings) {
  const sender = new Sender(generateSenderSecret(), { topic: TOPIC })
  const failures = []
  const report = (what, error) => failures.push([what, error])
  const router = new PhoneRouter({ sender, account: bearerToken, load: store.load, save: store.save, report, ...settings })
  return { sender, router, failures, fetch: router.fetch }
}

/** An app's client: it sends what PushServerClient sends. `fetch` may be a router's, or the network's. */
export class App {
  constructor({ sender, fetch, url = 'http://localhost' }, account, phone = new Phone({ topic: TOPIC, trusting: [sender.publicKey] })) {
    Object.assign(this, { fetch, url, account, phone, token: '00ff' })
  }

  get path() {
    return `/v1/phones/${this.phone.enrollment}`
  }

  async send(method, path, body, headers) {
    const response = await this.fetch(new Request(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.account}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body),
    }))
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
    record(method, path, body, answer)
    return answer
  }

  register(record = this.phone.record) {
    return this.send('PUT', this.path, { record, token: this.token, environment: 'production' })
  }

  answer({ challenge, state }) {
    return this.send('POST', `${this.path}/answers`, { answer: this.phone.answer(challenge), state })
  }

  /** Registers and answers. Returns the statuses. */
  async enroll() {
    const { status, body } = await this.register()
    const answers = await Promise.all((body.challenges ?? []).map((each) => this.answer(each)))
    return [status, ...answers.map((each) => each.status)]
  }

  leave(service) {
    return this.send('POST', '/v1/leavings', { leaving: this.phone.leave({ service }) }, { authorization: '' })
  }
}

/** Returns a module of Debian's packages, or of NODE_PATH, or undefined. */
export function installed(name) {
  process.env.NODE_PATH ??= '/usr/share/nodejs'
  Module._initPaths()
  try {
    return createRequire(import.meta.url)(name)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
  }
}

/** Adds an exchange to the file that ANSWERS names, which openapi-answers.py compares with Docs/openapi.yaml. */
function record(method, path, sent, { status, headers, body = null }) {
  if (process.env.ANSWERS === undefined) return
  const isJSON = typeof sent === 'object' && !(sent instanceof Uint8Array)
  const said = { method, path, sent: isJSON ? sent : null, status, type: headers.get('content-type'), body }
  appendFileSync(process.env.ANSWERS, `${JSON.stringify(said)}\n`)
}

const FOLDER = '/usr/lib/postgresql'
const [version] = existsSync(FOLDER) ? readdirSync(FOLDER).sort((one, other) => other - one) : []

/** Whether PostgreSQL is installed, as in Debian. */
export const hasPostgres = version !== undefined

// PostgreSQL refuses to run as root.
const SCRIPT = `set -e
cd "$1"
as=
if [ "$(id -u)" -eq 0 ]; then as="setpriv --reuid=postgres --regid=postgres --clear-groups"; chown postgres: .; fi
$as "$2/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >initdb.log 2>&1
$as "$2/postgres" -D data -k "$1" -c listen_addresses= -c fsync=off -c max_connections=100 >>log 2>&1 &
server=$!
cat >/dev/null
kill -QUIT $server
wait $server || true
cd /
rm -rf "$1"`

/** Starts a server of PostgreSQL on a Unix socket, and returns its folder and a function that stops it. */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'pg'))
  const programs = join(FOLDER, version, 'bin')
  const server = spawn('/bin/sh', ['-c', SCRIPT, 'server', folder, programs], { stdio: ['pipe', 'ignore', 'inherit'] })
  const stop = () => new Promise((resolve) => server.on('exit', resolve).stdin.end())
  const psql = new PSQL(folder)
  while (server.exitCode === null && !(await psql.query('SELECT 1 AS one', []).catch(() => undefined))) await sleep(50)
  if (server.exitCode !== null) throw new Error('PostgreSQL did not start')
  return { folder, stop, psql }
}

/** Has pg's `query`, over the psql command: a connection for each query. */
export class PSQL {
  constructor(folder) {
    this.folder = folder
  }

  query(statement, values = []) {
    const isQuery = values.length > 0 || statement.startsWith('SELECT')
    // psql quotes :'name' as a literal, and reads the statement from its standard input.
    const bound = statement.replace(/\$(\d+)/g, (_, number) => (values[number - 1] === null ? 'NULL' : `:'v${number}'`))
    const text = isQuery ? `WITH made AS MATERIALIZED (${bound}) SELECT to_json(made) FROM made;` : statement
    const words = ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-h', this.folder, '-U', 'postgres']
    const given = values.flatMap((value, index) => ['-v', `v${index + 1}=${value}`])
    return new Promise((resolve, reject) => {
      const child = execFile('psql', [...words, ...given, 'postgres'], { maxBuffer: 1 << 24 }, (error, output, errors) => {
        if (error) return reject(Object.assign(new Error(errors), { code: /ERROR: +(\w{5})/.exec(errors)?.[1] }))
        resolve({ rows: isQuery ? output.trimEnd().split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [] })
      })
      child.stdin.on('error', () => {})
      child.stdin.end(text)
    })
  }
}
