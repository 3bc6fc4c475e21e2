import { timestampOf } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { certificateAttention, webhookAttention } from './attention.ts';
import type { WebhookHealth } from './webhook.ts';

const NOW = '2026-06-01T00:00:00.000000Z';
const inDays = (days: number) => timestampOf(Date.parse(NOW) + days * 86_400_000);
const PARTY = 'dataProviders/x';

describe('a certificate', () => {
  const attention = (days: number, more: object = {}) =>
    certificateAttention(
      PARTY,
      {
        ...{ party: PARTY, id: 'c', notBefore: inDays(-9), notAfter: inDays(days) },
        ...{ revocationState: undefined, ...more },
      },
      NOW,
    );

  it('needs attention in its last 30 days, and when it cannot be used', () => {
    expect(attention(31)).toBeUndefined();
    expect(attention(29)).toMatchObject({
      ...{ code: 'CERTIFICATE_EXPIRES', name: `${PARTY}/certificates/c` },
      ...{ time: inDays(-1), until: inDays(29) },
    });
    expect(attention(-1)).toMatchObject({ code: 'CERTIFICATE_EXPIRED', time: inDays(-1) });
    expect(attention(99, { revocationState: 'HOLD' })).toMatchObject({
      code: 'CERTIFICATE_MISSING',
      detail: expect.stringContaining('is on hold'),
    });
    expect(attention(99, { notBefore: inDays(1) })?.code).toBe('CERTIFICATE_MISSING');
    expect(certificateAttention(PARTY, undefined, NOW)).toMatchObject({
      ...{ code: 'CERTIFICATE_MISSING', name: PARTY },
    });
  });
});

describe('a webhook', () => {
  const health: WebhookHealth = {
    ...{ party: PARTY, id: 'w', state: 'ACTIVE', pauseReason: null, updateTime: NOW, failingSince: null },
  };

  it('needs attention while it is paused, or while deliveries to it fail', () => {
    expect(webhookAttention(health)).toBeUndefined();
    expect(webhookAttention({ ...health, failingSince: inDays(-1) })).toMatchObject({
      ...{ code: 'WEBHOOK_FAILING', name: `${PARTY}/webhooks/w`, time: inDays(-1) },
    });
    const paused = { ...health, state: 'PAUSED', pauseReason: 'The endpoint is gone.' } as const;
    expect(webhookAttention({ ...paused, failingSince: inDays(-1) })).toMatchObject({
      ...{ code: 'WEBHOOK_PAUSED', time: NOW, detail: 'The endpoint is gone.' },
    });
  });
});
