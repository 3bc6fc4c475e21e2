import { describe } from 'vitest';
import { accepts, DAY, issuer, problemsOf, refuses } from '../../../test/production/settings.ts';
import type { Config } from '../config.ts';

const problemsOfIssuer = (change: object, config: Partial<Config> = {}) =>
  problemsOf({ ...config, issuers: [{ ...issuer, ...change }] });

describe('issuers', () => {
  accepts([
    ['an https issuer with an https JWKS', () => problemsOf()],
    ['keys in a file', () => problemsOfIssuer({ jwksUri: undefined, jwksFile: '/etc/mex/jwks.json' })],
    [
      'a private host that is allowed',
      () => problemsOfIssuer({ jwksUri: 'https://10.0.0.7/jwks' }, { allowedPrivateHosts: ['10.0.0.7'] }),
    ],
    [
      'a public address similar to a private one',
      () => problemsOfIssuer({ jwksUri: 'https://11.0.0.7/jwks' }),
    ],
    ['an asymmetric algorithm', () => problemsOfIssuer({ algorithms: ['PS512'] })],
    ['a maximum token age of seven days', () => problemsOfIssuer({ maxTokenAgeSeconds: 7 * DAY })],
  ]);
  refuses([
    ['an empty list', () => problemsOf({ issuers: [] }), /^issuers is empty/],
    [
      'a duplicate issuer',
      () => problemsOf({ issuers: [issuer, issuer, issuer] }),
      /id\.example\.com is listed twice/,
    ],
    [
      'an empty issuer',
      () => problemsOfIssuer({ issuer: '' }),
      /^issuers\[0\]\.issuer must be the https URL/,
    ],
    [
      'an http issuer',
      () => problemsOfIssuer({ issuer: 'http://id.example.com' }),
      /issuer must be the https URL/,
    ],
    ['an empty audience', () => problemsOfIssuer({ audience: '' }), /audience is empty/],
    [
      'an issuer without keys',
      () => problemsOfIssuer({ jwksUri: undefined }),
      /jwksUri or jwksFile, exactly one/,
    ],
    [
      'an issuer with both jwksUri and jwksFile',
      () => problemsOfIssuer({ jwksFile: '/etc/mex/jwks.json' }),
      /exactly one/,
    ],
    [
      'an http JWKS',
      () => problemsOfIssuer({ jwksUri: 'http://id.example.com/jwks' }),
      /jwksUri must be an https URL/,
    ],
    ['a JWKS that is not a URL', () => problemsOfIssuer({ jwksUri: 'jwks' }), /jwksUri must be an https URL/],
    [
      'a missing JWKS file',
      () => problemsOfIssuer({ jwksUri: undefined, jwksFile: '/nowhere' }),
      /jwksFile \/nowhere cannot be read/,
    ],
    [
      'a symmetric algorithm',
      () => problemsOfIssuer({ algorithms: ['ES256', 'HS256'] }),
      /algorithms has HS256\./,
    ],
    ['unsigned tokens', () => problemsOfIssuer({ algorithms: ['none'] }), /algorithms has none\./],
    ['an empty list of algorithms', () => problemsOfIssuer({ algorithms: [] }), /algorithms is empty/],
    [
      'no maximum age',
      () => problemsOfIssuer({ maxTokenAgeSeconds: undefined }),
      /maxTokenAgeSeconds must be set/,
    ],
    ['a maximum age of 0', () => problemsOfIssuer({ maxTokenAgeSeconds: 0 }), /maxTokenAgeSeconds/],
    [
      'a maximum age over seven days',
      () => problemsOfIssuer({ maxTokenAgeSeconds: 7 * DAY + 1 }),
      /at most 604800/,
    ],
    [
      'a maximum age of NaN',
      () => problemsOfIssuer({ maxTokenAgeSeconds: Number.NaN }),
      /maxTokenAgeSeconds/,
    ],
  ]);
  refuses(
    [
      ...['10.0.0.7', '127.0.0.1', '169.254.169.254', '172.31.0.1', '192.168.1.1', '100.64.0.1', '0x7f.1'],
      ...['[::1]', '[fd00::1]', '[fe80::1]', '[::ffff:10.0.0.7]', 'localhost', 'localhost.', 'keycloak'],
      ...['id.svc.cluster.local', 'metadata.google.internal'],
    ].map((host) => [
      `a JWKS on ${host}`,
      () => problemsOfIssuer({ jwksUri: `https://${host}/jwks` }),
      /is a private address or name.*allowedPrivateHosts/,
    ]),
  );
});
