-- Logins, by the SHA-256 of a bearer token. Replace this table with your own.
CREATE TABLE IF NOT EXISTS login (
    bearer bytea PRIMARY KEY,
    account text NOT NULL
);

CREATE TABLE IF NOT EXISTS device (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL,
    enrollment text NOT NULL,
    state jsonb NOT NULL,
    proven boolean NOT NULL DEFAULT false,
    -- Becomes part of a URL path.
    token text CHECK (token ~ '^([0-9A-Fa-f]{2}){1,100}$'),
    environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
    token_since timestamptz NOT NULL DEFAULT now(),
    -- Whether Apple has accepted a push for the token, and its reason if it has refused the token.
    token_accepted boolean NOT NULL DEFAULT false,
    token_refused text,
    UNIQUE (account, enrollment)
);
-- A key can be proven for only one account (Specification 11.5.8).
CREATE UNIQUE INDEX IF NOT EXISTS device_proven ON device (enrollment) WHERE proven;

CREATE TABLE IF NOT EXISTS message (
    id uuid PRIMARY KEY,
    author text NOT NULL,
    reader text NOT NULL,
    body text NOT NULL,
    sent timestamptz NOT NULL DEFAULT now()
);

-- Waiting pushes, each sealed once. A row is deleted when Apple accepts the push.
CREATE TABLE IF NOT EXISTS push (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message uuid NOT NULL REFERENCES message,
    device bigint NOT NULL REFERENCES device ON DELETE CASCADE,
    payload bytea NOT NULL,
    headers jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    due timestamptz NOT NULL DEFAULT now(),
    refused text
);
CREATE INDEX IF NOT EXISTS push_due ON push (due) WHERE refused IS NULL;
