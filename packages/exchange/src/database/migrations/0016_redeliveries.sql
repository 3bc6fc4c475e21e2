-- How many changes a party had delivered again since the beginning of an hour of its own.
CREATE TABLE webhook_redeliveries (
  party text COLLATE "C" PRIMARY KEY REFERENCES parties,
  since timestamptz NOT NULL,
  count integer NOT NULL
);
