import { describe } from 'vitest';
import { accepts, problemsOf, refuses } from '../../../test/production/settings.ts';

const problemsOfEnv = (env: Record<string, string>) => problemsOf({}, { env });

describe('the process', () => {
  accepts([
    ['the oldest Node that is maintained', () => problemsOf({}, { nodeVersion: '22.0.0' })],
    ['other flags', () => problemsOf({}, { execArgv: ['--enable-source-maps'] })],
    [
      'other variables',
      () => problemsOfEnv({ MEX_CHECKS: 'strict', NODE_OPTIONS: '--max-old-space-size=512' }),
    ],
    ['no config file', () => problemsOfEnv({})],
  ]);
  refuses([
    ['root', () => problemsOf({}, { uid: 0 }), /runs as root/],
    [
      'a Node past its end',
      () => problemsOf({}, { nodeVersion: '20.20.2' }),
      /^Node 20\.20\.2 .*Run Node 22/,
    ],
    ['any certificate', () => problemsOfEnv({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }), /NODE_EXTRA_CA_CERTS/],
    [
      'a debugger',
      () => problemsOf({}, { execArgv: ['--inspect-brk=0.0.0.0:9229'] }),
      /^--inspect-brk is set \(command line\)/,
    ],
    [
      'a debugger by NODE_OPTIONS',
      () => problemsOfEnv({ NODE_OPTIONS: '--trace-exit "--inspect=9229"' }),
      /^--inspect is set \(NODE_OPTIONS\)/,
    ],
    ['what is printed of connections', () => problemsOfEnv({ NODE_DEBUG: 'http' }), /^NODE_DEBUG prints/],
    [
      'code that runs first, however it is written',
      () => problemsOfEnv({ NODE_OPTIONS: '"--im\\port" "./my hook.mjs"' }),
      /^--import is set \(NODE_OPTIONS\)/,
    ],
    [
      'a lenient parser',
      () => problemsOf({}, { execArgv: ['--insecure_http_parser'] }),
      /^--insecure-http-parser is set/,
    ],
    [
      'a config file for the group',
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
        `${flag} by NODE_OPTIONS`,
        () => problemsOfEnv({ NODE_OPTIONS: `${flag} x` }),
        /is set \(NODE_OPTIONS\)/,
      ],
    ]),
  );
});
