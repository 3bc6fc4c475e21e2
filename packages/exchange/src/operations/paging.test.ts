import { describe, expect, it } from 'vitest';
import { type ListScope, MAX_BATCH_BYTES, MAX_PAGE_BYTES, PageTokens, START } from './paging.ts';

const tokens = new PageTokens(new Uint8Array(32).fill(7));
const scope: ListScope = ['listMeasurements', 'measurementConsumers/acme', { states: ['SUCCEEDED'] }];
const last = { time: '2026-01-02T03:04:05.000001Z', id: 'm-1' };
const write = () => tokens.write(scope, last);

const REFUSED = expect.objectContaining({
  reason: 'INVALID_PAGE_TOKEN',
  violations: [{ field: 'pageToken', description: 'does not belong to this list with these filters' }],
});

describe('a page token', () => {
  it('is decoded to the position that it was written with', () => {
    expect(tokens.read(scope, write())).toEqual(last);
    const elsewhere = { time: 'infinity', id: 'ü "quoted"' };
    expect(tokens.read(scope, tokens.write(scope, elsewhere))).toEqual(elsewhere);
  });

  it('defaults to the start of the list, before every time and every ID', () => {
    expect(tokens.read(scope, undefined)).toBe(START);
    expect(START).toEqual({ time: '-infinity', id: '' });
  });

  it('contains only characters that need no escaping in a URL', () => {
    for (let i = 0; i < 50; i++) expect(tokens.write(scope, { ...last, id: `m${i}` })).toMatch(/^[\w-]+$/);
  });

  it.each<[string, ListScope]>([
    ['method', ['listRequisitions', scope[1], scope[2]]],
    ['parent', [scope[0], 'measurementConsumers/globex', scope[2]]],
    ['filter', [scope[0], scope[1], { states: ['FAILED'] }]],
    ['number of filters', [scope[0], scope[1]]],
    ['boundary between method and parent', [`${scope[0]}m`, scope[1].slice(1), scope[2]]],
  ])('is rejected in a list with another %s', (_what, other) => {
    expect(() => tokens.read(other, write())).toThrow(REFUSED);
  });

  it('is rejected by an exchange with another key', () => {
    const others = new PageTokens(new Uint8Array(32).fill(8));
    expect(() => others.read(scope, write())).toThrow(REFUSED);
  });

  it('is rejected if any character is changed or removed, or if one is appended', () => {
    const token = write();
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === 'A' ? 'B' : 'A';
      expect(() => tokens.read(scope, token.slice(0, i) + other + token.slice(i + 1))).toThrow(REFUSED);
      expect(() => tokens.read(scope, token.slice(0, i) + token.slice(i + 1))).toThrow(REFUSED);
    }
    for (const more of ['A', '=', ' ', '!', '\n']) {
      expect(() => tokens.read(scope, token + more)).toThrow(REFUSED);
    }
  });

  it.each(['', 'A', 'AAAA', 'A'.repeat(21), 'not base64!', 'Ä'.repeat(30)])('is rejected as %j', (text) => {
    expect(() => tokens.read(scope, text)).toThrow(REFUSED);
  });

  it('has a fixed format that begins with 16 bytes of HMAC-SHA-256 over its scope and position', () => {
    // Compare with a literal token, because the format must not change: replicas of two versions serve the same list
    // and must read each other's tokens.
    expect(write()).toBe('-LDwzwsUMIVxLX2pOAeVCFsiMjAyNi0wMS0wMlQwMzowNDowNS4wMDAwMDFaIiwibS0xIl0');
  });
});

it('limits a page to 8 MiB and a batch to 64 MiB', () => {
  expect([MAX_PAGE_BYTES, MAX_BATCH_BYTES]).toEqual([8_388_608, 67_108_864]);
});
