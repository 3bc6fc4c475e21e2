import { describe } from 'vitest';
import { accepts, problemsOf, refuses } from '../../../test/production/settings.ts';

const tls = (keyFile: string, certFile = '/etc/mex/cert.pem') => ({
  host: '0.0.0.0',
  tls: { certFile, keyFile },
});
const proxied = (...trustedProxies: string[]) => ({ host: '0.0.0.0', behindTlsProxy: true, trustedProxies });

describe('the listen settings', () => {
  accepts([
    ['loopback without TLS and without a proxy', () => problemsOf({ host: '::1', trustedProxies: [] })],
    [
      'a proxy on loopback',
      () =>
        problemsOf({ host: '127.0.0.1', behindTlsProxy: true, trustedProxies: ['127.0.0.1/32', '::1/128'] }),
    ],
    ['TLS without a proxy', () => problemsOf(tls('/etc/mex/key.pem'))],
    [
      'a TLS proxy with explicit addresses',
      () => problemsOf(proxied('10.1.0.0/16', 'fd00::/8', '192.0.2.7')),
    ],
  ]);
  refuses([
    [
      'an outside address without TLS',
      () => problemsOf({ host: '0.0.0.0' }),
      /^host 0\.0\.0\.0.*Set tls, or behindTlsProxy/,
    ],
    ['all IPv6 addresses without TLS', () => problemsOf({ host: '::' }), /no TLS/],
    ['a TLS proxy without trustedProxies', () => problemsOf(proxied()), /^behindTlsProxy: list/],
    [
      'a TLS proxy on loopback without trustedProxies',
      () => problemsOf({ host: '127.0.0.1', behindTlsProxy: true, trustedProxies: [] }),
      /^behindTlsProxy: list/,
    ],
    ...['127.0.0.1', '::1', 'localhost'].map((host): [string, () => string[], RegExp] => [
      `${host} if trustedProxies is not set`,
      () => problemsOf({ host, trustedProxies: undefined }),
      /all callers would have one address.*Set trustedProxies/,
    ]),
    ['a missing key', () => problemsOf(tls('/nowhere')), /^tls\.keyFile \/nowhere cannot be read/],
    [
      'a key that the process cannot read',
      () => problemsOf(tls('/etc/mex/others.pem')),
      /tls\.keyFile .* cannot be read/,
    ],
    [
      'a key that everyone can read',
      () => problemsOf(tls('/etc/mex/open.pem')),
      /tls\.keyFile .* \(mode 0644\).*replace the key/,
    ],
    [
      'a missing certificate',
      () => problemsOf(tls('/etc/mex/key.pem', '/nowhere')),
      /tls\.certFile \/nowhere cannot be read/,
    ],
  ]);
  refuses(
    ['0.0.0.0/0', '::/0', '10.0.0.0/0', '0.0.0.0/1', '0.0.0.0/00'].map((range) => [
      `${range} as trusted proxies`,
      () => problemsOf(proxied(range)),
      /^trustedProxies: .* trusts far too many/,
    ]),
  );
  refuses(
    ['true', '*', 'loopback', '', '10.0.0.0/33', '10.0.0.0/', '0.0.0.0/0.0.0.0', '10.0.0.0/8/8'].map(
      (range) => [`"${range}" as a proxy`, () => problemsOf(proxied(range)), /is not an address or CIDR/],
    ),
  );
  refuses([
    [
      'all IPv4 addresses in IPv6 notation',
      () => problemsOf(proxied('0:0::ffff:0:0/96')),
      /Write it as IPv4/,
    ],
  ]);
});

describe('limits', () => {
  const rate = { perSecond: 10, burst: 20 };
  accepts([
    ['a body limit of 16 MiB', () => problemsOf({ bodyLimitBytes: 16 * 1024 * 1024 })],
    ['a rate of 0.1 per second', () => problemsOf({ rate: { perSecond: 0.1, burst: 1 } })],
  ]);
  refuses([
    [
      'a body limit above 16 MiB',
      () => problemsOf({ bodyLimitBytes: 16 * 1024 * 1024 + 1 }),
      /^bodyLimitBytes .*16 MiB/,
    ],
    ['a body limit of 0', () => problemsOf({ bodyLimitBytes: 0 }), /^bodyLimitBytes/],
    ['a rate of zero', () => problemsOf({ rate: { ...rate, perSecond: 0 } }), /^rate\.perSecond/],
    ['a burst of 0', () => problemsOf({ rate: { ...rate, burst: 0 } }), /^rate\.burst/],
    [
      'a negative rate for one party',
      () => problemsOf({ rates: { 'dataProviders/x': { ...rate, perSecond: -1 } } }),
      /^rates\["dataProviders\/x"\]\.perSecond/,
    ],
  ]);
});
