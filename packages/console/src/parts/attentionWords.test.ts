import type { AttentionCode } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { attentionWords, withoutCommands } from './attentionWords.ts';

const now = Date.parse('2026-11-18T00:00:00Z');
const name = 'measurementConsumers/acme/measurements/m1';
const heading = (
  code: AttentionCode,
  more: { name?: string; party?: string; until?: string; title?: string } = {},
) => {
  const { title, ...rest } = more;
  return attentionWords({ code, name, ...rest }, { party: (text) => text.split('/')[1]!, title, now })
    .heading;
};

it('attentionWords names the resource that needs attention, and the party it waits for', () => {
  const party = 'dataProviders/chirper';
  expect(heading('REFUSED', { title: 'Autumn' })).toBe('“Autumn” was refused');
  expect(heading('SILENT', { party })).toBe('Measurement m1 waits for chirper');
  expect(heading('DEFERRED', { party, title: 'Autumn' })).toBe('“Autumn” is deferred by chirper');
  expect(heading('SILENT', { name: 'dataProviders/chirper/requisitions/r1', party })).toBe(
    'Request r1 waits for chirper',
  );
});

it('attentionWords distinguishes your certificate from one of an awaited party', () => {
  const own = { name: 'measurementConsumers/acme/certificates/c1' };
  expect(heading('CERTIFICATE_EXPIRES', { ...own, until: '2026-11-30T12:00:00Z' })).toBe(
    'Your certificate ends in 12 days',
  );
  expect(heading('CERTIFICATE_EXPIRED', own)).toBe('Your certificate has ended');
  expect(heading('CERTIFICATE_EXPIRED', { party: 'duchies/alpha' })).toBe(
    'Measurement m1 waits because the certificate of alpha has ended',
  );
});

it('withoutCommands removes commands in parentheses', () => {
  const remedy =
    'Mend its endpoint, then resume it (mex webhooks resume); what is still in the log is sent then.';
  expect(withoutCommands(remedy)).toBe(
    'Mend its endpoint, then resume it; what is still in the log is sent then.',
  );
});
