import { ExchangeError } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { json, me, page, refused, scripted } from '../../test/client/scripted.ts';
import { isTransient, UnexpectedResponse, Unreachable } from './errors.ts';

describe('a response', () => {
  it('of a newer exchange is read without its unknown fields', async () => {
    const { client } = scripted([json({ ...me, mood: 'good', state: 'NEW' })]);
    expect(await client.whoAmI()).toEqual(me);
  });

  it('may be an error with an unknown reason, which keeps its details', async () => {
    const error = new ExchangeError('TOO_EARLY', 'Come back in spring.', {
      code: 'FAILED_PRECONDITION',
      metadata: { season: 'spring' },
      violations: [{ field: 'when', description: 'is too early' }],
    });
    const { client } = scripted([refused(error)]);
    await expect(client.whoAmI()).rejects.toMatchObject({
      ...{ code: 'FAILED_PRECONDITION', reason: 'TOO_EARLY', message: 'Come back in spring.' },
      ...{ metadata: error.metadata, violations: error.violations, requestId: 'r1' },
    });
  });

  it.each([
    ['an HTML page with status 200', () => page('<h1>Welcome to the hotel</h1>', 200), true],
    ['an HTML page with status 502', () => page('<h1>Bad gateway</h1>', 502), true],
    ['an HTML page with status 404', () => page('<h1>Not found</h1>', 404), false],
    ['truncated JSON', () => json('{"principal":"oper'), true],
    ['no content', () => new Response(null, { status: 204 }), true],
    ['an error of another service', () => json({ error: { code: 403, message: 'no' } }, 403), false],
    ['an outage of another service', () => json({ message: 'no upstream' }, 503), true],
    ['JSON of another service', () => json({ hello: 'world' }), false],
  ])('that is not from an exchange throws an UnexpectedResponse: %s', async (_title, response, transient) => {
    const { client } = scripted([response()], { maxAttempts: 1 });
    const error = await client.whoAmI().catch((e) => e);
    expect(error).toBeInstanceOf(UnexpectedResponse);
    expect(error.status).toBe(response().status);
    expect(error.message).toMatch(/^whoAmI: .*(not one of an exchange|does not fit)/);
    expect(isTransient(error)).toBe(transient);
  });

  it('that is a redirect is not followed', async () => {
    const redirect = new Response(null, { status: 307, headers: { location: 'https://evil.example.com/' } });
    const opaque = Object.defineProperties(new Response(null), {
      type: { value: 'opaqueredirect' },
      status: { value: 0 },
    });
    for (const response of [redirect, opaque]) {
      const { client, sent } = scripted([response]);
      const error = await client.whoAmI().catch((e) => e);
      expect(error).toBeInstanceOf(UnexpectedResponse);
      expect(error.message).toMatch('redirected elsewhere, which is not followed');
      expect(sent).toHaveLength(1);
    }
  });
});

describe('isTransient', () => {
  it.each([
    [new ExchangeError('UNAVAILABLE', ''), true],
    [new ExchangeError('RATE_LIMITED', ''), true],
    [new ExchangeError('DEADLINE_EXCEEDED', ''), true],
    [new ExchangeError('INTERNAL', ''), true],
    [new ExchangeError('RESPONSE_TOO_LARGE', ''), false],
    [new ExchangeError('DESCRIPTOR_TOO_COSTLY', ''), false],
    [new ExchangeError('NONCE_MISMATCH', ''), false],
    [new ExchangeError('REQUISITION_ETAG_MISMATCH', ''), false],
    [new ExchangeError('TOKEN_INVALID', ''), false],
    [new Unreachable(''), true],
    [AbortSignal.timeout(0), false],
    [new DOMException('', 'TimeoutError'), true],
    [new Error(''), false],
    [undefined, false],
  ])('of %s is %s', (error, transient) => {
    expect(isTransient(error)).toBe(transient);
  });
});
