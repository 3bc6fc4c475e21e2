/**
 * Tests the tools that the harnesses use, such as the token corpus and the search for secrets. If a tool misses an
 * error, the harnesses miss it too.
 */
import { openApiDocument } from '@measurement-exchange/contract';
import { makeKey } from '@measurement-exchange/testkit/issuer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../random.ts';
import { conformityOf } from './fuzz/schemas.ts';
import { Secrets } from './secrets.ts';
import { tokenCorpus } from './tokens/corpus.ts';

describe('the token corpus', () => {
  const issuer = {
    key: makeKey('k'),
    issuer: 'http://issuer',
    audience: 'us',
    subject: 'measurementConsumers/acme',
  };
  const corpus = tokenCorpus(issuer);

  it('has at least 120 tokens, which are all different', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(120);
    expect(new Set(corpus.map(({ title }) => title)).size).toBe(corpus.length);
    expect(new Set(corpus.map(({ authorization }) => authorization)).size).toBe(corpus.length);
    expect(corpus.filter(({ good }) => good).length).toBeGreaterThan(10);
  });
});

describe('the conformity check against the OpenAPI document', () => {
  const { components } = openApiDocument({ version: '0' });
  const conforms = conformityOf(components.schemas)({ $ref: '#/components/schemas/Requisition' });
  const good = {
    name: 'dataProviders/a/requisitions/b',
    state: 'FULFILLED',
    nonce: 7,
    nonceHash: Buffer.alloc(32).toString('base64'),
    createTime: '2026-01-01T00:00:00.000000Z',
    refusal: { justification: 'DECLINED' },
  };

  it('reports nothing for an object that conforms', () => {
    expect(conforms(good, 'it')).toBeUndefined();
  });

  it.each<[title: string, changes: object, wanted: string]>([
    ['a missing field', { state: undefined }, 'it.state'],
    [
      'a name of another resource kind',
      { name: 'measurementConsumers/a' },
      'it.name does not match its pattern',
    ],
    ['an unknown state', { state: 'LOST' }, 'it.state is none of the enum'],
    ['a field that is not documented', { secret: 1 }, 'it.secret is not documented'],
    [
      'a nested field that is not documented',
      { refusal: { justification: 'DECLINED', a: 1 } },
      'it.refusal.a',
    ],
    ['a fraction', { nonce: 1.5 }, 'it.nonce is not integer or string'],
    [
      'a time in another format',
      { createTime: '2026-01-01T00:00:00Z' },
      'it.createTime is not a printed time',
    ],
    ['base64 without padding', { nonceHash: 'A'.repeat(43) }, 'it.nonceHash is not padded base64'],
    ['an array where an object should be', { refusal: [] }, 'it.refusal is not object'],
  ])('reports %s', (_title, changes, wanted) => {
    expect(conforms({ ...good, ...changes }, 'it')).toContain(wanted);
  });
});

describe('secrets', () => {
  it('are found in every encoding and at every position of a longer text', () => {
    const secrets = new Secrets();
    const marker = secrets.make('the secret', new Random(1));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5 }), fc.uint8Array({ maxLength: 5 }), (before, after) => {
        const bytes = Buffer.concat([before, Buffer.from(marker), after]);
        for (const form of ['base64', 'base64url', 'hex', 'latin1'] as const) {
          expect(secrets.within(bytes.toString(form))).toEqual(['the secret']);
        }
      }),
    );
    expect(secrets.within(`{"a":"${encodeURIComponent(marker)}"}`)).toEqual(['the secret']);
    expect(secrets.within(marker.slice(0, -1))).toEqual([]);
  });

  it('that are numbers are found as exact, rounded and hexadecimal text', () => {
    const secrets = new Secrets();
    secrets.addNonce('the nonce', 12345678901234567891n);
    for (const form of ['12345678901234567891', '12345678901234567000', 'ab54a98ceb1f0ad3']) {
      expect(secrets.within(`nonce ${form}.`), form).toEqual(['the nonce']);
    }
    expect(secrets.within('1234567890')).toEqual([]);
  });
});
