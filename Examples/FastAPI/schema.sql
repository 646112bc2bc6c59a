-- After the table of devices, which `python -m sealed_push.postgres` prints.

-- Logins, by the SHA-256 of a bearer token. Replace this table with your own.
CREATE TABLE IF NOT EXISTS login (
    bearer bytea PRIMARY KEY,
    account text NOT NULL
);

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
    device bigint NOT NULL REFERENCES sealed_push_device ON DELETE CASCADE,
    payload bytea NOT NULL,
    headers jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    due timestamptz NOT NULL DEFAULT now(),
    refused text
);
CREATE INDEX IF NOT EXISTS push_due ON push (due) WHERE refused IS NULL;
