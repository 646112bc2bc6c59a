// The stores, compared with the one in memory, over real databases.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { PostgresStore, SQLiteStore } from 'sealed-push/server'
import { Phone } from 'sealed-push/testing'
import { App, backEnd, hasPostgres, installed, MemoryStore, startPostgres } from './back-end.js'
import { TOPIC } from './support.js'

const sqlite = await import('node:sqlite').catch(() => undefined)
const pg = installed('pg')
const postgres = hasPostgres ? await startPostgres() : undefined
const folder = mkdtempSync(join(tmpdir(), 'stores'))
let count = 0
const opened = []

after(async () => {
  for (const close of opened) await close()
  await postgres?.stop()
  rmSync(folder, { recursive: true })
})

async function postgresStore(pool) {
  await pool.query(`DROP TABLE IF EXISTS sealed_push_device CASCADE; ${PostgresStore.schema}`)
  return new PostgresStore(pool)
}

const kinds = {
  memory: { make: () => new MemoryStore() },
  'node:sqlite': {
    missing: sqlite === undefined && 'needs node:sqlite, as in Node 24',
    make: () => {
      const database = new sqlite.DatabaseSync(join(folder, `${(count += 1)}.sqlite`))
      opened.push(() => database.close())
      return new SQLiteStore(database)
    },
  },
  'PostgreSQL over psql': { missing: !hasPostgres && 'needs PostgreSQL', make: () => postgresStore(postgres.psql) },
  'PostgreSQL over pg': {
    missing: (!hasPostgres || pg === undefined) && "needs pg, as in Debian's node-pg, and PostgreSQL",
    make: () => {
      const pool = new pg.Pool({ host: postgres.folder, user: 'postgres', database: 'postgres', max: 8 })
      opened.push(() => pool.end())
      return postgresStore(pool)
    },
  },
}

/** Calls the test with a new store of each kind that this machine has. */
async function overStores(context, test) {
  for (const [name, { missing, make }] of Object.entries(kinds)) {
    if (missing) context.diagnostic(`not tested over ${name}: ${missing}`)
    else await test(await make(), name)
  }
}

const entry = (account, token, proven, registeredMilliseconds = 1) => ({
  account, state: { enrollment: 'e', record: 'r', proven, challenges: [] }, token, environment: 'sandbox', registeredMilliseconds,
})
const NOTHING = { entries: [], others: 0 }

describe('Stores', () => {
  it('save what load returns, and refuse what is no longer stored', (context) => overStores(context, async (store, name) => {
    assert.deepEqual(await store.load('key', 'alice'), NOTHING, name)
    const first = [entry("al'ice\\ \"ü", '00', [])]
    assert.equal(await store.save('key', 'alice', NOTHING, first), true, name)
    assert.equal(await store.save('key', 'alice', NOTHING, []), false, name)
    const loaded = await store.load('key', 'alice')
    assert.deepEqual(loaded, { entries: first, others: 0 }, name)
    const both = [...loaded.entries, entry('bob', 'ab', [])]
    assert.equal(await store.save('key', 'bob', loaded, both), true, name)
    const again = await store.load('key', undefined)
    assert.deepEqual(again.entries.map(({ account }) => account), ["al'ice\\ \"ü", 'bob'], name)
    for (const changed of [{ token: 'cd' }, { registeredMilliseconds: 2 }, { environment: 'production' }, { account: 'x' }, { state: { ...first[0].state, record: 's' } }]) {
      const other = { ...again, entries: [{ ...again.entries[0], ...changed }, again.entries[1]] }
      assert.equal(await store.save('key', undefined, other, []), false, name)
    }
    assert.equal(await store.save('key', undefined, { ...again, others: 1 }, []), false, name)
    assert.deepEqual(await store.load('key', undefined), again, name)
    // The key is in the record of each; an account's other devices are counted.
    assert.equal(await store.save('other', 'bob', { entries: [], others: 1 }, [entry('bob', 'ef', ['push1'])]), true, name)
    assert.equal((await store.load('key', 'bob')).others, 1, name)
    assert.equal((await store.load('key', 'carol')).others, 0, name)
    assert.equal(await store.save('key', undefined, again, [again.entries[1]]), true, name)
    assert.deepEqual((await store.load('key', undefined)).entries, [again.entries[1]], name)
    assert.equal(await store.save('key', undefined, { entries: [again.entries[1]], others: 0 }, []), true, name)
    assert.deepEqual(await store.load('key', undefined), NOTHING, name)
    assert.deepEqual((await store.devices('bob')).map(({ token }) => token), ['ef'], name)
  }))

  it('drop the entry from before a reinstallation once the new one is proven', (context) => overStores(context, async (store, name) => {
    const save = (key, others, ...entries) => store.save(key, entries[0].account, { entries: [], others }, entries)
    assert.ok(await save('old', 0, entry('alice', '0011', ['push1'])))
    assert.ok(await save('unproven', 1, entry('alice', '0011', [])), name)
    assert.ok(await save('same token', 0, entry('bob', '0011', ['push1'])), name)
    assert.ok(await save('other token', 2, entry('alice', '2233', ['push1'])), name)
    assert.equal((await store.devices('alice')).length, 2, name)
    assert.ok(await save('new', 3, entry('alice', '0011', ['push1'])), name)
    assert.deepEqual((await store.devices('alice')).map(({ token }) => token).sort(), ['0011', '2233'], name)
    assert.equal((await store.devices('bob')).length, 1, name)
    assert.deepEqual((await store.load('old', 'alice')).entries, [], name)
  }))

  it('stop using a refused token until the app sends it again', (context) => overStores(context, async (store, name) => {
    if (name === 'memory') return
    const first = entry('alice', '0011', ['push1'], 5000)
    await store.save('key', 'alice', NOTHING, [first])
    const gone = (timestamp) => ({ outcome: 'gone', status: 410, reason: 'Unregistered', timestamp })
    const refused = { outcome: 'refused', status: 400, reason: 'BadDeviceToken' }
    for (const answer of [gone(4999), { outcome: 'accepted', status: 200 }, { outcome: 'retry', reason: 'timed-out' }, { outcome: 'wrong' }]) {
      assert.equal(await store.refuse(first, answer), false, name)
    }
    assert.equal(await store.refuse({ ...first, registeredMilliseconds: 4000 }, refused), false, name)
    assert.equal((await store.devices('alice')).length, 1, name)
    for (const answer of [gone(5000), refused]) {
      assert.equal(await store.refuse(first, answer), true, name)
      assert.deepEqual(await store.devices('alice'), [], name)
      // An answer to a challenge doesn't bring the token back, but a registration does.
      const loaded = await store.load('key', 'alice')
      assert.ok(await store.save('key', 'alice', loaded, [{ ...loaded.entries[0], state: { ...first.state, challenges: [] , record: 's' } }]), name)
      assert.deepEqual(await store.devices('alice'), [], name)
      const found = await store.load('key', 'alice')
      assert.ok(await store.save('key', 'alice', found, [{ ...found.entries[0], registeredMilliseconds: 5001 }]), name)
      assert.equal((await store.devices('alice')).length, 1, name)
      const last = await store.load('key', 'alice')
      assert.ok(await store.save('key', 'alice', last, [first]), name)
    }
  }))

  it('refuse rows that break the rules', (context) => overStores(context, async (store, name) => {
    if (name === 'memory') return
    for (const wrong of [{ token: 'xyz' }, { token: '' }, { environment: 'test' }]) {
      await assert.rejects(async () => store.save('key', 'alice', NOTHING, [{ ...entry('alice', '00', []), ...wrong }]), name)
      assert.deepEqual(await store.load('key', 'alice'), NOTHING, name)
    }
    // Only one account can have proven a key, even if a program saves something else.
    const two = [entry('alice', '00', ['push1']), entry('bob', '00', ['push1'])]
    const isSaved = await Promise.resolve().then(() => store.save('key', 'alice', NOTHING, two)).catch(() => false)
    assert.equal(isSaved, false, name)
    assert.deepEqual(await store.load('key', 'alice'), NOTHING, name)
  }))

  it('serve phones whose requests race', (context) => overStores(context, async (store, name) => {
    const server = backEnd(store)
    const phones = Array.from({ length: 2 }, () => new Phone({ topic: TOPIC, trusting: [server.sender.publicKey] }))
    const apps = phones.flatMap((phone, index) => ['alice', 'bob'].map((account) => Object.assign(new App(server, account, phone), { token: `00${index}${index}` })))
    const twice = await Promise.all([...apps, ...apps].map(async (app) => [app, await app.register()]))
    assert.ok(twice.every(([, { status }]) => status === 200), name)
    const answers = await Promise.all(twice.map(([app, { body }]) => app.answer(body.challenges[0])))
    assert.ok(answers.every(({ status, body }) => status === 204 || ['enrolled-elsewhere', 'unknown-device'].includes(body.code)), name)
    const devices = [...(await store.devices('alice')), ...(await store.devices('bob'))]
    assert.deepEqual(devices.map(({ state }) => state.enrollment).sort(), phones.map(({ enrollment }) => enrollment).sort(), name)
    assert.deepEqual(await Promise.all(phones.map(async (phone) => (await new App(server, '', phone).leave()).status)), [204, 204], name)
    assert.deepEqual([...(await store.devices('alice')), ...(await store.devices('bob'))], [], name)
    assert.deepEqual(server.failures, [], name)
  }))

  it('say what to pass instead of a path or an address', () => {
    const wrong = [[SQLiteStore, 'phones.sqlite', 'database', /new SQLiteStore\(new DatabaseSync\(path\)\)/], [PostgresStore, 'postgres:///push', 'pool', /new pg\.Pool\(/]]
    for (const [Store, argument, code, message] of wrong) {
      for (const value of [argument, undefined, {}]) assert.throws(() => new Store(value), { name: 'SettingError', code, message })
    }
  })

  it('share a file of SQLite with another process', { skip: kinds['node:sqlite'].missing }, async () => {
    const path = join(folder, 'shared.sqlite')
    const script = `
      import { DatabaseSync } from 'node:sqlite'
      import { SQLiteStore } from 'sealed-push/server'
      const database = new DatabaseSync(process.argv[1])
      const store = new SQLiteStore(database)
      database.exec('PRAGMA busy_timeout = 60000; PRAGMA synchronous = OFF')
      let saved = 0
      while (saved < 40) {
        const found = store.load('key', 'alice')
        const [entry = { account: 'alice', state: { proven: [] }, token: '00', environment: 'sandbox', registeredMilliseconds: 0 }] = found.entries
        saved += store.save('key', 'alice', found, [{ ...entry, registeredMilliseconds: entry.registeredMilliseconds + 1 }])
      }`
    const cwd = new URL('..', import.meta.url)
    const run = () => new Promise((resolve) => {
      spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, path], { cwd, stdio: 'inherit' }).on('exit', resolve)
    })
    assert.deepEqual(await Promise.all([run(), run(), run()]), [0, 0, 0])
    const database = new sqlite.DatabaseSync(path)
    opened.push(() => database.close())
    assert.equal(new SQLiteStore(database).load('key', 'alice').entries[0].registeredMilliseconds, 120)
    // A transaction that the application has left open is neither used nor ended.
    database.exec('BEGIN')
    const store = new SQLiteStore(database)
    assert.throws(() => store.save('key', 'alice', store.load('key', 'alice'), []))
    database.exec('COMMIT')
    assert.equal(store.load('key', 'alice').entries.length, 1)
  })

  it('of PostgreSQL wait for a transaction that saves first, also without a row', { skip: kinds['PostgreSQL over psql'].missing }, async () => {
    const { psql } = postgres
    const store = await postgresStore(psql)
    // Another phone of the account counts among its devices.
    for (const [first, second] of [['key', 'key'], ['one', 'two']]) {
      let statement
      const recorded = new PostgresStore({ query: async (text, values) => (statement = [text, values], { rows: [{}] }) })
      await recorded.save(first, 'alice', NOTHING, [entry('alice', '00', [])])
      const [text, values] = statement
      const literal = (value) => `'${value.replaceAll("'", "''")}'`
      const bound = text.replace(/\$(\d+)/g, (_, number) => literal(values[number - 1]))
      // The first transaction goes on once the second one waits for it, however long that takes.
      await psql.query('CREATE TABLE go_on (at integer)')
      const sleep = 'WHILE NOT EXISTS (SELECT FROM go_on) LOOP PERFORM pg_sleep(0.01); END LOOP;'
      const slow = psql.query(`BEGIN; ${bound}; DO $$BEGIN ${sleep} END$$; COMMIT`)
      const waiting = async (condition) => Number((await psql.query(`SELECT count(*) AS count FROM pg_stat_activity WHERE ${condition}`)).rows[0].count)
      while (await waiting("wait_event = 'PgSleep'") === 0) await new Promise(setImmediate)
      let isSaved
      const saving = store.save(second, 'alice', NOTHING, [entry('alice', 'ab', [])]).then((answer) => { isSaved = answer })
      while (isSaved === undefined && await waiting("wait_event_type = 'Lock'") === 0) await new Promise(setImmediate)
      await psql.query('INSERT INTO go_on VALUES (1)')
      await saving
      assert.equal(isSaved, false)
      await slow
      assert.deepEqual((await store.load(first, 'alice')).entries.map(({ token }) => token), ['00'])
      await psql.query('DELETE FROM sealed_push_device')
      await psql.query('DROP TABLE go_on')
    }
  })

  it('create the schema of PostgreSQL, and again', { skip: kinds['PostgreSQL over psql'].missing }, async () => {
    await postgres.psql.query('DROP TABLE sealed_push_device CASCADE')
    for (const _ of [1, 2]) await postgres.psql.query(PostgresStore.schema)
    assert.deepEqual(await new PostgresStore(postgres.psql).devices('alice'), [])
  })
})
