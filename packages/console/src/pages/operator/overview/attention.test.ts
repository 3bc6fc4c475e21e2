import type { Doctor, ExchangeStatus, PartyHealth } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { attentionOf } from './attention.ts';

const NOW = Date.parse('2026-11-18T12:00:00Z');
const inDays = (days: number) => new Date(NOW + days * 86_400_000).toISOString();
const none = { count: 0 };

const healthy = (name: string, changes: Partial<PartyHealth> = {}): PartyHealth => ({
  name,
  displayName: '',
  state: 'ACTIVE',
  lastSeen: inDays(0),
  certificate: { name: `${name}/certificates/1`, notAfter: inDays(300), daysLeft: 300 },
  open: none,
  openByAge: { underHour: none, underDay: none, older: none },
  webhooks: { active: 0, paused: 0, failing: 0 },
  ...changes,
});
const titles = (health: PartyHealth[], doctor?: Doctor, status?: ExchangeStatus) =>
  attentionOf(health, doctor, status, NOW).map(({ party, title }) => `${party?.label ?? ''} ${title}`.trim());

it('attentionOf returns nothing for healthy parties, and for a consumer last seen three days ago', () => {
  const away = { lastSeen: inDays(-3), open: { count: 2 } };
  expect(titles([healthy('dataProviders/a'), healthy('measurementConsumers/b', away)])).toEqual([]);
});

it('attentionOf lists a silent party and an expired certificate before warnings', () => {
  const health = [
    healthy('dataProviders/soon', { certificate: { name: 'x', notAfter: inDays(38), daysLeft: 38 } }),
    healthy('dataProviders/off', { state: 'SUSPENDED' }),
    healthy('dataProviders/quiet', { lastSeen: inDays(-0.2), open: { count: 4 } }),
    healthy('duchies/new', { lastSeen: undefined, certificate: undefined }),
    healthy('measurementConsumers/hooks', { webhooks: { active: 2, paused: 1, failing: 2 } }),
    healthy('measurementConsumers/late', { certificate: { name: 'x', notAfter: inDays(-1), daysLeft: -1 } }),
  ];
  expect(titles(health)).toEqual([
    'quiet was last seen 4 h ago',
    'late has a certificate that ended Nov 17',
    'soon has a certificate with 38 days left',
    'off is suspended',
    'new has no certificate',
    'hooks has 1 webhook paused, 2 webhooks failing',
  ]);
});

it('attentionOf lists the findings of the doctor, errors first, and replicas of another version', () => {
  const finding = { check: 'c', rows: 1, examples: [], remedy: 'Do it.' };
  const doctor: Doctor = {
    running: false,
    findings: [
      { ...finding, severity: 'warning', meaning: 'A warning.' },
      { ...finding, severity: 'error', meaning: 'An error.' },
    ],
  };
  const replica = { name: 'r', host: 'h', startTime: inDays(0), lastSeen: inDays(0) };
  const status = {
    version: '1.0.4',
    replicas: [{ ...replica, version: '1.0.2' }],
  } as unknown as ExchangeStatus;
  expect(titles([], doctor, status)).toEqual(['An error.', 'A warning.', 'One replica runs another version']);
});
