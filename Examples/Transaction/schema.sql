CREATE TABLE IF NOT EXISTS message (
    id bigint PRIMARY KEY,
    reader text NOT NULL,
    body text NOT NULL
);

-- What sealed_push.Device.to_dict() gives. The outbox knows the phone by the same name.
CREATE TABLE IF NOT EXISTS phone (
    name text PRIMARY KEY,
    account text NOT NULL,
    state jsonb NOT NULL
);
