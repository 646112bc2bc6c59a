// Stores devices in PostgreSQL, for a PhoneRouter. index.d.ts documents the members.

import { SettingError } from '../errors.js'
import { blake2b } from '../protocol/blake2b.js'
import { isRefusal } from './entries.js'

const ENTRY = `jsonb_build_object('account', account, 'state', state, 'token', token, 'environment', environment,
        'registeredMilliseconds', registered)`
const SCHEMA = `
CREATE TABLE IF NOT EXISTS sealed_push_device (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL,
    enrollment text NOT NULL,
    state jsonb NOT NULL,
    proven boolean NOT NULL DEFAULT false,
    -- Becomes part of a URL path.
    token text CHECK (token ~ '^([0-9A-Fa-f]{2}){1,100}$'),
    environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
    -- When the app last sent the token, in milliseconds since 1970.
    registered bigint NOT NULL DEFAULT 0,
    -- Whether Apple has accepted a push for the token, and its reason if it has refused the token.
    token_accepted boolean NOT NULL DEFAULT false,
    token_refused text,
    UNIQUE (account, enrollment)
);
CREATE INDEX IF NOT EXISTS sealed_push_device_enrollment ON sealed_push_device (enrollment);
-- A key can be proven for only one account (Specification 11.5.8).
CREATE UNIQUE INDEX IF NOT EXISTS sealed_push_device_proven ON sealed_push_device (enrollment) WHERE proven;

CREATE OR REPLACE FUNCTION sealed_push_load(of_enrollment text, of_account text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object(
        'entries', coalesce((SELECT jsonb_agg(${ENTRY} ORDER BY account COLLATE "C")
            FROM sealed_push_device WHERE enrollment = of_enrollment), '[]'),
        'others', (SELECT count(*) FROM sealed_push_device WHERE account = of_account AND enrollment <> of_enrollment))
$$;

-- Each statement sees what was committed while an earlier one waited for a lock.
CREATE OR REPLACE FUNCTION sealed_push_save(of_enrollment text, of_account text, loaded jsonb, entries jsonb, locks bigint[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE lock bigint;
BEGIN
    -- One request at a time for a phone, and for an account, even before they have rows.
    FOREACH lock IN ARRAY locks LOOP
        PERFORM pg_advisory_xact_lock(lock);
    END LOOP;
    PERFORM FROM sealed_push_device WHERE enrollment = of_enrollment FOR UPDATE;
    IF sealed_push_load(of_enrollment, of_account) <> loaded THEN
        RETURN false;
    END IF;
    DELETE FROM sealed_push_device WHERE enrollment = of_enrollment
        AND account NOT IN (SELECT each ->> 'account' FROM jsonb_array_elements(entries) each);
    -- From before the app was deleted and installed again.
    DELETE FROM sealed_push_device USING jsonb_array_elements(entries) each
        WHERE account = each ->> 'account' AND token = each ->> 'token' AND enrollment <> of_enrollment
        AND jsonb_array_length(each -> 'state' -> 'proven') > 0;
    INSERT INTO sealed_push_device AS known (account, enrollment, state, proven, token, environment, registered)
        SELECT each ->> 'account', of_enrollment, each -> 'state', jsonb_array_length(each -> 'state' -> 'proven') > 0,
            each ->> 'token', each ->> 'environment', (each -> 'registeredMilliseconds')::bigint
        FROM jsonb_array_elements(entries) each
        ON CONFLICT (account, enrollment) DO UPDATE SET state = excluded.state, proven = excluded.proven, token = excluded.token,
        environment = excluded.environment, registered = excluded.registered,
        token_refused = CASE WHEN known.registered = excluded.registered THEN known.token_refused END,
        token_accepted = known.token_accepted AND (known.token, known.environment)
            IS NOT DISTINCT FROM (excluded.token, excluded.environment);
    RETURN true;
END
$$;
`
// Another transaction came first: a serialization failure, a deadlock, or the unique index of proven keys.
const RACES = ['40001', '40P01', '23505']

/** The devices of all accounts, in the table `sealed_push_device`. */
export class PostgresStore {
  #pool

  constructor(pool) {
    if (typeof pool?.query !== 'function') throw new SettingError('pool')
    this.#pool = pool
  }

  static get schema() {
    return SCHEMA
  }

  // Functions without `this`, so that they can be passed on.
  load = async (enrollment, account) => {
    const { rows } = await this.#pool.query('SELECT sealed_push_load($1, $2) AS found', [enrollment, account ?? null])
    return rows[0].found
  }

  save = async (enrollment, account, found, entries) => {
    // Sorted, so that no two transactions wait for each other.
    const locks = [lockOf('enrollment', enrollment), lockOf('account', account ?? '')].sort((one, other) => (one < other ? -1 : 1))
    const values = [enrollment, account ?? null, JSON.stringify(found), JSON.stringify(entries), `{${locks.join()}}`]
    try {
      const { rows } = await this.#pool.query('SELECT sealed_push_save($1, $2, $3::jsonb, $4::jsonb, $5::bigint[]) AS saved', values)
      return rows[0].saved
    } catch (error) {
      if (RACES.includes(error?.code)) return false
      throw error
    }
  }

  async devices(account) {
    const usable = 'account = $1 AND proven AND token IS NOT NULL AND token_refused IS NULL'
    const { rows } = await this.#pool.query(`SELECT ${ENTRY} AS entry FROM sealed_push_device WHERE ${usable} ORDER BY id`, [account])
    return rows.map(({ entry }) => entry)
  }

  async refuse({ account, token, registeredMilliseconds }, answer) {
    if (!isRefusal(answer, registeredMilliseconds)) return false
    const place = 'account = $2 AND token = $3 AND registered = $4::bigint'
    const statement = `UPDATE sealed_push_device SET token_refused = $1 WHERE ${place} RETURNING id`
    const { rows } = await this.#pool.query(statement, [answer.reason, account, token, String(registeredMilliseconds)])
    return rows.length > 0
  }
}

/** Returns the number of an advisory lock, the same as in Clients/Python. */
const lockOf = (kind, name) => blake2b(8, Buffer.from(`sealed_push ${kind} ${name}`)).readBigInt64BE()
