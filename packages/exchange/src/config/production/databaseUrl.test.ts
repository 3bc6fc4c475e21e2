import { describe, expect, it } from 'vitest';
import { accepts, problemsOf, refuses } from '../../../test/production/settings.ts';

const problemsOfUrl = (databaseUrl: string) => problemsOf({ databaseUrl });

describe('the database URL', () => {
  const full = 'sslmode=verify-full';
  accepts([
    ['a socket', () => problemsOfUrl('postgres://mex_app@%2Frun%2Fpostgresql/mex')],
    ['a socket as a parameter', () => problemsOfUrl('postgres://mex_app@ignored/mex?host=/run/postgresql')],
    ['loopback without TLS', () => problemsOfUrl('postgresql://mex_app:vJ2mQ8xw@127.0.0.1:5433/mex')],
    [
      'a client certificate',
      () =>
        problemsOfUrl(
          `postgres://a@db.example.com/mex?${full}&sslcert=/etc/mex/cert.pem&sslkey=/etc/mex/key.pem`,
        ),
    ],
    [
      'an embedded database that only its owner can read',
      () => problemsOf({ databaseUrl: undefined, dataDir: '/closed' }),
    ],
    [
      'an embedded database that does not exist yet',
      () => problemsOf({ databaseUrl: undefined, dataDir: '/new' }),
    ],
    [
      'a password from PGPASSWORD',
      () => problemsOf({ databaseUrl: 'postgres://a@[::1]/mex' }, { env: { PGPASSWORD: 'vJ2mQ8xw' } }),
    ],
  ]);
  refuses([
    ['a value that is not a URL', () => problemsOfUrl('host=db user=mex'), /^databaseUrl must be a URL/],
    [
      'another database system',
      () => problemsOfUrl('mysql://a:b@localhost/mex'),
      /^databaseUrl must be a URL/,
    ],
    [
      'a URL without a role',
      () => problemsOfUrl(`postgres://db.example.com/mex?${full}`),
      /must name a role/,
    ],
    ['a URL without a database', () => problemsOfUrl(`postgres://a:vJ2mQ8xw@localhost`), /must name a role/],
    [
      'an embedded database that other users can read',
      () => problemsOf({ databaseUrl: undefined, dataDir: '/open' }),
      /chmod 700 \/open\/pg/,
    ],
    ['no password', () => problemsOfUrl('postgres://mex_app@localhost/mex'), /^databaseUrl has no password/],
    [
      'a missing root certificate',
      () => problemsOfUrl(`postgres://a:vJ2mQ8xw@localhost/mex?sslrootcert=/no`),
      /sslrootcert \/no cannot be read/,
    ],
    [
      'a client key that everyone can read',
      () => problemsOfUrl('postgres://a@localhost/mex?sslcert=/etc/mex/cert.pem&sslkey=/etc/mex/open.pem'),
      /sslkey .* is open to everyone/,
    ],
    [
      'an owner URL to another machine without TLS',
      () => problemsOf({ databaseOwnerUrl: 'postgres://own:vJ2mQ8xw@db.example.com/mex' }),
      /^databaseOwnerUrl: db\.example\.com is another machine/,
    ],
  ]);
  refuses(
    ['', 'sslmode=disable', 'sslmode=require', 'sslmode=verify-ca', `${full}&sslmode=no-verify`].map(
      (mode) => [
        `another machine with "${mode}"`,
        () => problemsOfUrl(`postgres://mex_app:vJ2mQ8xw@db.example.com/mex?${mode}`),
        /is another machine: add sslmode=verify-full/,
      ],
    ),
  );
  refuses([
    [
      'another machine in the host parameter',
      () => problemsOfUrl('postgres://mex_app:vJ2mQ8xw@localhost/mex?host=db.example.com'),
      /db\.example\.com is another machine/,
    ],
  ]);
  refuses(
    ['options=-csynchronous_commit%3Doff', 'ssl=0', 'uselibpqcompat=true', 'query_timeout=0'].map(
      (parameter) => [
        `the parameter ${parameter}`,
        () => problemsOfUrl(`postgres://mex_app:vJ2mQ8xw@localhost/mex?${parameter}`),
        /the parameter \w+ is not supported/,
      ],
    ),
  );
  refuses(
    ['postgres', 'Password', 'CHANGE-ME', 'mex_app', 'pass%77ord'].map((password) => [
      `the password ${password}`,
      () => problemsOfUrl(`postgres://mex_app:${password}@localhost/mex`),
      /a password that anyone would guess/,
    ]),
  );

  it('never shows a password in a problem', () => {
    const url = 'postgres://mex_app:vJ2mQ8xw@db.example.com/mex?options=vJ2mQ8xw&sslmode=vJ2mQ8xw';
    expect(problemsOfUrl(url).join()).not.toContain('vJ2mQ8xw');
  });
});
