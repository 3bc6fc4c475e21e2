/** A ledger's tables, and the migrations from earlier versions. */
import { EVERYBODY } from '@measurement-exchange/mpc/charges';

/**
 * The reference of charges from schema 1, which stored the event group's resource name instead of a reference. These
 * charges count against every reference, because the event group may have had any reference.
 */
export const ANY_REFERENCE = '';

/**
 * `attempts` counts the unfinished attempts to respond to a requisition: the running attempt, and earlier attempts that
 * crashed. Storing a response does not change the count. `charges` references `attempts`, so every charged requisition
 * has a row in `attempts`.
 */
const ATTEMPTS = `
CREATE TABLE attempts (
  requisition TEXT PRIMARY KEY,
  count       INTEGER NOT NULL CHECK (count >= 0)
) STRICT, WITHOUT ROWID;
`;

/** `slices` contains each slice, with a text that describes its people. The slice with the ID 1 contains everybody. */
const ACCOUNTS = `
CREATE TABLE slices (
  id     INTEGER PRIMARY KEY,
  people TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO slices VALUES (1, '${EVERYBODY}');

CREATE TABLE charges (
  requisition TEXT NOT NULL REFERENCES attempts,
  reference   TEXT NOT NULL,
  day         TEXT NOT NULL,
  slice       INTEGER NOT NULL REFERENCES slices,
  epsilon     INTEGER NOT NULL CHECK (epsilon >= 0),
  delta       INTEGER NOT NULL CHECK (delta >= 0),
  rho         INTEGER NOT NULL CHECK (rho >= 0),
  PRIMARY KEY (requisition, reference, day, slice)
) STRICT, WITHOUT ROWID;

CREATE TABLE totals (
  reference TEXT NOT NULL,
  day       TEXT NOT NULL,
  slice     INTEGER NOT NULL REFERENCES slices,
  epsilon   INTEGER NOT NULL,
  delta     INTEGER NOT NULL,
  rho       INTEGER NOT NULL,
  PRIMARY KEY (reference, day, slice)
) STRICT, WITHOUT ROWID;
`;

/**
 * A response is a result (`ciphertext`), the signed part of an upload (`fulfillment`), or a refusal (`justification`).
 */
const RESPONSES = `
CREATE TABLE responses (
  requisition   TEXT PRIMARY KEY,
  responded_at  TEXT NOT NULL,
  certificate   TEXT,
  nonce         TEXT,
  type_url      TEXT,
  ciphertext    BLOB,
  duchy         TEXT,
  fulfillment   TEXT,
  justification TEXT,
  message       TEXT,
  CHECK ((ciphertext IS NOT NULL) + (fulfillment IS NOT NULL) + (justification IS NOT NULL) = 1),
  CHECK (ciphertext IS NULL OR (certificate IS NOT NULL AND nonce IS NOT NULL AND type_url IS NOT NULL)),
  CHECK (fulfillment IS NULL OR duchy IS NOT NULL)
) STRICT, WITHOUT ROWID;
`;

/**
 * Counts the rejections of each upload that the duchy has not accepted yet. A row is deleted with the upload's file.
 */
export const REJECTIONS = `
CREATE TABLE rejections (
  requisition TEXT PRIMARY KEY REFERENCES responses,
  count       INTEGER NOT NULL CHECK (count > 0),
  counted_at  TEXT NOT NULL,
  why         TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

export const INVENTORY = `
CREATE TABLE confirmed_references (
  reference    TEXT PRIMARY KEY,
  confirmed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE held (
  requisition          TEXT PRIMARY KEY,
  measurement_consumer TEXT NOT NULL,
  reference_list       TEXT NOT NULL,
  since                TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * The measurement of each requisition that was charged or refused. The measurement's name tells the operator which
 * consumer asked.
 */
export const QUESTIONS = `
CREATE TABLE questions (
  requisition TEXT PRIMARY KEY,
  measurement TEXT NOT NULL,
  asked_at    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * `responses` has the response to each requisition. `totals` caches the sums of `charges`, so that a budget check does
 * not read all charges. Rows of `responses`, `charges` and `totals` are never deleted. Amounts are integer units (see
 * packages/mpc/src/charges/amounts.ts) and never decrease.
 */
export const SCHEMA = `
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
${RESPONSES}${ATTEMPTS}${ACCOUNTS}${REJECTIONS}${INVENTORY}${QUESTIONS}`;

/** The migration from schema 1. Every earlier charge gets the reference ANY_REFERENCE, and is for everybody. */
export const FROM_1 = `
ALTER TABLE answers RENAME TO responses;
ALTER TABLE responses RENAME COLUMN answered_at TO responded_at;
ALTER TABLE charges RENAME TO charges_1;
ALTER TABLE totals RENAME TO totals_1;
${ATTEMPTS}${ACCOUNTS}
INSERT INTO attempts SELECT requisition, 1 FROM responses WHERE justification IS NULL;
INSERT INTO charges
  SELECT requisition, '${ANY_REFERENCE}', day, 1, sum(epsilon), sum(delta), sum(rho) FROM charges_1
  GROUP BY requisition, day;
INSERT INTO totals
  SELECT '${ANY_REFERENCE}', day, 1, sum(epsilon), sum(delta), sum(rho) FROM totals_1 GROUP BY day;
DROP TABLE charges_1;
DROP TABLE totals_1;
`;

/** The migration from any of the schemas 2 through 6, which had no slices. Every earlier charge is for everybody. */
export const FROM_6 = `
ALTER TABLE charges RENAME TO charges_6;
ALTER TABLE totals RENAME TO totals_6;
${ACCOUNTS}
INSERT INTO charges SELECT requisition, reference, day, 1, epsilon, delta, rho FROM charges_6;
INSERT INTO totals SELECT reference, day, 1, epsilon, delta, rho FROM totals_6;
DROP TABLE charges_6;
DROP TABLE totals_6;
`;

/** The migration from schema 2, which had no uploads. */
export const FROM_2 = `
ALTER TABLE responses RENAME TO responses_2;
${RESPONSES}
INSERT INTO responses (requisition, responded_at, certificate, nonce, type_url, ciphertext, justification, message)
  SELECT requisition, responded_at, certificate, nonce, type_url, ciphertext, justification, message
  FROM responses_2;
DROP TABLE responses_2;
`;
