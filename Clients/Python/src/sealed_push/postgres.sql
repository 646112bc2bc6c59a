CREATE TABLE IF NOT EXISTS sealed_push_device (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL,
    enrollment text NOT NULL,
    state jsonb NOT NULL,
    proven boolean NOT NULL,
    -- Becomes part of a URL path.
    token text CHECK (token ~ '^([0-9A-Fa-f]{2}){1,100}$'),
    environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
    -- When the app last sent the token, in milliseconds since 1970.
    registered bigint NOT NULL,
    -- Whether Apple has accepted a push for the token, and its reason if it has refused the token.
    token_accepted boolean NOT NULL DEFAULT false,
    token_refused text,
    UNIQUE (account, enrollment)
);
CREATE INDEX IF NOT EXISTS sealed_push_device_enrollment ON sealed_push_device (enrollment);
-- A key can be proven for only one account (Specification 11.5.8).
CREATE UNIQUE INDEX IF NOT EXISTS sealed_push_device_proven ON sealed_push_device (enrollment) WHERE proven;
