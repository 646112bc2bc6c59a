CREATE TABLE IF NOT EXISTS message (
    id bigint PRIMARY KEY,
    reader text NOT NULL,
    body text NOT NULL
);

-- The state is the result of sealed_push.Device.to_dict(). The outbox uses the same name for the phone.
CREATE TABLE IF NOT EXISTS phone (
    name text PRIMARY KEY,
    account text NOT NULL,
    state jsonb NOT NULL
);
