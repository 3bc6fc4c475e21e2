import { ExchangeError } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import {
  BASE,
  cancel,
  json,
  me,
  page,
  party,
  refused,
  scripted,
  unavailable,
} from '../../test/client/scripted.ts';
import { createClient } from './client.ts';

describe('a client', () => {
  it('sends the token to the exchange, with the path of its baseUrl', async () => {
    const { client, sent } = scripted([json(me)], { baseUrl: `${BASE}/mex/`, userAgent: 'tests' });
    expect(await client.whoAmI()).toEqual(me);
    expect(sent).toEqual([
      {
        url: `${BASE}/mex/v2alpha/whoami`,
        method: 'GET',
        headers: { authorization: 'Bearer secret', 'user-agent': 'tests' },
        body: null,
      },
    ]);
  });

  it.each([
    'exchange.example.com',
    'ftp://exchange.example.com',
    'https://me:pw@exchange.example.com',
    `${BASE}?x`,
    `${BASE}#x`,
  ])('is not created for the invalid baseUrl %s', (baseUrl) => {
    expect(() => createClient({ baseUrl, token: 't' })).toThrow(
      /^baseUrl: must be the http or https address/,
    );
  });

  it('sends no request if a name does not match the pattern', async () => {
    const { client, sent } = scripted([]);
    await expect(client.getMeasurement(party)).rejects.toMatchObject({ reason: 'MALFORMED_NAME' });
    await expect(client.listRequisitions({ parent: 'x' }).page()).rejects.toMatchObject({
      reason: 'MALFORMED_NAME',
    });
    expect(sent).toEqual([]);
  });

  it.each(['two\nlines', 'é', '', undefined])(
    'rejects a token that is not a valid header value, without a request: %j',
    async (token) => {
      const { client, sent } = scripted([], { token: () => token as string });
      await expect(client.whoAmI()).rejects.toThrow(
        'token: must be a bearer token, or a function that returns one.',
      );
      expect(sent).toEqual([]);
    },
  );
});

describe('a token source', () => {
  it('is called for every attempt', async () => {
    let asked = 0;
    const { client, sent } = scripted([unavailable(), json(me)], { token: async () => `t${++asked}` });
    await client.whoAmI();
    expect(sent.map((s) => s.headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
  });

  const invalid = () => refused(new ExchangeError('TOKEN_INVALID', 'No.'));

  it('is called once more after a 401 of the exchange or of a proxy, even for a change', async () => {
    for (const first of [invalid(), page('<h1>Login</h1>', 401)]) {
      let asked = 0;
      const { client, sent, slept } = scripted([first, json({ state: 'CANCELLED' })], {
        token: () => `t${++asked}\n`,
        maxAttempts: 1,
      });
      await client.cancelMeasurement(cancel);
      expect(sent.map((s) => s.headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
      expect(slept).toEqual([]);
    }
  });

  it('that returns the same token again causes no retry, nor does a fixed token', async () => {
    for (const token of [() => 'same', 'fixed']) {
      const { client, sent } = scripted([invalid()], { token });
      await expect(client.whoAmI()).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
      expect(sent).toHaveLength(1);
    }
  });

  it('that returns a second invalid token is not called for a third one', async () => {
    let asked = 0;
    const { client } = scripted([invalid(), invalid()], { token: () => `t${++asked}` });
    await expect(client.whoAmI()).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
    expect(asked).toBe(2);
  });

  it('that throws fails the call with the same error, without a request', async () => {
    const { client, sent } = scripted([], {
      token: () => {
        throw new Error('the vault is closed');
      },
    });
    await expect(client.whoAmI()).rejects.toThrow('the vault is closed');
    expect(sent).toEqual([]);
  });
});

describe('a list', () => {
  const found = (names: string[], nextPageToken?: string) =>
    json({ principals: names.map(binding), nextPageToken });
  const binding = (name: string) => ({ name, issuer: 'i', subject: 's', resource: 'operator' });

  it('requests its pages in order, and again for each iteration', async () => {
    const pages = () => [
      found(['principals/1', 'principals/2'], 'a b'),
      found([], 'c'),
      found(['principals/3']),
    ];
    const { client, sent } = scripted([...pages(), ...pages(), ...pages()]);
    const listing = client.listPrincipals({ pageSize: 2 });
    const names = (await Array.fromAsync(listing)).map((p) => p.name);
    expect(names).toEqual(['principals/1', 'principals/2', 'principals/3']);
    expect(await Array.fromAsync(listing)).toHaveLength(3);
    const sizes = (await Array.fromAsync(listing.pages())).map((p) => p.principals.length);
    expect(sizes).toEqual([2, 0, 1]);
    const queries = sent.slice(0, 3).map(({ url }) => url.split('?')[1]);
    expect(queries).toEqual(['pageSize=2', 'pageSize=2&pageToken=a+b', 'pageSize=2&pageToken=c']);
  });

  it('requests no page before it is needed', async () => {
    const { client, sent } = scripted([found(['principals/1'], 'next')]);
    const listing = client.listPrincipals();
    expect(sent).toEqual([]);
    for await (const { name } of listing) {
      expect(name).toBe('principals/1');
      break;
    }
    expect(sent).toHaveLength(1);
  });

  it('can start at a page token, and return one page with the next token', async () => {
    const { client, sent } = scripted([found(['principals/1'], 'next')]);
    const { principals, nextPageToken } = await client.listPrincipals({ pageToken: 'here' }).page();
    expect([principals.length, nextPageToken]).toEqual([1, 'next']);
    expect(sent[0]!.url).toBe(`${BASE}/v2alpha/principals?pageToken=here`);
  });

  it('with a repeated page token throws', async () => {
    const { client } = scripted([found([], 'again'), found([], 'again')]);
    await expect(Array.fromAsync(client.listPrincipals())).rejects.toThrow(
      'The list does not end: a page comes again.',
    );
  });

  it('retries a page after a transient failure, without losing or repeating items', async () => {
    const { client } = scripted([found(['principals/1'], 'a'), unavailable(), found(['principals/2'])]);
    expect((await Array.fromAsync(client.listPrincipals())).map((p) => p.name)).toEqual([
      'principals/1',
      'principals/2',
    ]);
  });
});
