import * as s from '../json/schema.ts';
import { Count, StateCount } from './summary.ts';

const DOCTOR_SEVERITIES = ['error', 'warning'] as const;

/** Database rows or settings that failed one check of the doctor, the exchange's consistency checker. */
export const DoctorFinding = s.object({
  check: s.text(100),
  severity: s.enumOf(DOCTOR_SEVERITIES),
  rows: s.integer(1, Number.MAX_SAFE_INTEGER),
  examples: s.array(s.text(1000), { description: 'The names of the first wrong rows, at most five.' }),
  meaning: s.text(2000),
  remedy: s.text(2000),
});
export type DoctorFinding = s.Static<typeof DoctorFinding>;

/** The last run of the doctor inside this exchange. A run from the command line (`mex doctor`) is not recorded. */
export const Doctor = s.object({
  running: s.boolean(),
  startTime: s.optional(s.timestamp(), 'When the latest run began; absent before the first one.'),
  endTime: s.optional(s.timestamp(), 'When the last run that ended did so; the rest is about that run.'),
  checks: s.optional(s.integer(0, 100_000), 'How many checks it made.'),
  findings: s.array(DoctorFinding),
  failure: s.optional(s.text(1000), 'Why it made no checks.'),
});
export type Doctor = s.Static<typeof Doctor>;

export const Replica = s.object({
  name: s.text(100),
  host: s.text(300),
  version: s.text(100),
  startTime: s.timestamp(),
  lastSeen: s.timestamp(),
});
export type Replica = s.Static<typeof Replica>;

export const ExchangeStatus = s.object({
  time: s.timestamp(),
  version: s.text(100),
  mode: s.enumOf(['development', 'production']),
  schema: s.object(
    { migration: s.integer(0, 9999), name: s.text(100), applyTime: s.timestamp() },
    'The last migration of the database.',
  ),
  replicas: s.array(Replica, { description: 'Those that ran in the last three minutes, oldest first.' }),
  measurements: s.object(
    {
      open: s.array(StateCount),
      endedSince: s.timestamp(),
      ended: s.array(StateCount),
      refused: Count,
    },
    'Of all consumers: those that are open, those that ended in the last 24 hours, and the refused ones among the latter.',
  ),
});
export type ExchangeStatus = s.Static<typeof ExchangeStatus>;
