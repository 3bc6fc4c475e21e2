-- Keys with which programs of a consumer authenticate. Only the hash of a key is stored: the key has 256 random bits, so
-- nobody can find it from its hash.
CREATE TABLE api_keys (
  consumer text COLLATE "C" NOT NULL REFERENCES parties (name),
  id text COLLATE "C" NOT NULL CHECK (length(id) BETWEEN 1 AND 63 AND id !~ '[^A-Za-z0-9_-]'),
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  display_name text NOT NULL CHECK (length(display_name) BETWEEN 1 AND 255),
  description text CHECK (length(description) <= 1000),
  create_time timestamptz NOT NULL,
  expire_time timestamptz NOT NULL CHECK (expire_time > create_time),
  PRIMARY KEY (consumer, id)
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (key_hash);
CREATE INDEX api_keys_by_create_time ON api_keys (consumer, create_time, id);

-- A client certificate names the key of its root.
CREATE INDEX trusted_roots_by_key ON trusted_roots (subject_key_identifier);
