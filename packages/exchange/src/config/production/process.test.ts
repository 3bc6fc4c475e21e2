import { describe } from 'vitest';
import { accepts, problemsOf, refuses } from '../../../test/production/settings.ts';

const problemsOfEnv = (env: Record<string, string>) => problemsOf({}, { env });

describe('the process', () => {
  accepts([
    ['the oldest supported Node version', () => problemsOf({}, { nodeVersion: '22.0.0' })],
    ['a harmless flag', () => problemsOf({}, { execArgv: ['--enable-source-maps'] })],
    [
      'harmless environment variables',
      () => problemsOfEnv({ MEX_CHECKS: 'strict', NODE_OPTIONS: '--max-old-space-size=512' }),
    ],
    ['no config file', () => problemsOfEnv({})],
  ]);
  refuses([
    ['the user root', () => problemsOf({}, { uid: 0 }), /runs as root/],
    [
      'a Node version that is no longer maintained',
      () => problemsOf({}, { nodeVersion: '20.20.2' }),
      /^Node 20\.20\.2 .*Run Node 22/,
    ],
    [
      'NODE_TLS_REJECT_UNAUTHORIZED=0',
      () => problemsOfEnv({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
      /NODE_EXTRA_CA_CERTS/,
    ],
    [
      'a debugger',
      () => problemsOf({}, { execArgv: ['--inspect-brk=0.0.0.0:9229'] }),
      /^--inspect-brk is set \(command line\)/,
    ],
    [
      'a debugger in NODE_OPTIONS',
      () => problemsOfEnv({ NODE_OPTIONS: '--trace-exit "--inspect=9229"' }),
      /^--inspect is set \(NODE_OPTIONS\)/,
    ],
    ['NODE_DEBUG=http', () => problemsOfEnv({ NODE_DEBUG: 'http' }), /^NODE_DEBUG prints/],
    [
      'preloaded code in NODE_OPTIONS, even if it is quoted and escaped',
      () => problemsOfEnv({ NODE_OPTIONS: '"--im\\port" "./my hook.mjs"' }),
      /^--import is set \(NODE_OPTIONS\)/,
    ],
    [
      'a lenient HTTP parser',
      () => problemsOf({}, { execArgv: ['--insecure_http_parser'] }),
      /^--insecure-http-parser is set/,
    ],
    [
      'a config file that the group can read',
      () => problemsOfEnv({ MEX_CONFIG: '/etc/mex/open.json' }),
      /\(mode 0640\)\. Run: chmod 600/,
    ],
  ]);
  refuses(
    [
      ...[
        '--require',
        '-r',
        '--import',
        '--loader',
        '--experimental-loader',
        '--conditions=development',
        '-C',
      ],
      ...[
        '--tls-keylog=/tmp/keys',
        '--trace-tls',
        '--heapsnapshot-signal=SIGUSR2',
        '--report-on-signal',
        '--prof',
      ],
      ...['--tls-min-v1.0', '--openssl-config=/tmp/x', '--unhandled-rejections=none', '--tls_keylog=x'],
      ...['--experimental-default-config-file', '--experimental-config-file=x', '--inspect-publish-uid=http'],
    ].flatMap((flag): [string, () => string[], RegExp][] => [
      [flag, () => problemsOf({}, { execArgv: [flag, 'x'] }), /is set \(command line\)\. Remove it/],
      [
        `${flag} in NODE_OPTIONS`,
        () => problemsOfEnv({ NODE_OPTIONS: `${flag} x` }),
        /is set \(NODE_OPTIONS\)/,
      ],
    ]),
  );
});
