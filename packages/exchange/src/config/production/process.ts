/** Checks the process in production mode: its user account, Node version, flags, and environment. */

export interface FileFacts {
  mode: number;
  readable: boolean;
}

/** Facts about the process. The checks receive these facts as an argument, so that the checks are pure functions. */
export interface ProcessFacts {
  env: Record<string, string | undefined>;
  execArgv: string[];
  nodeVersion: string;
  /** Undefined on systems without user IDs. */
  uid: number | undefined;
  /** Returns undefined if the file does not exist. */
  file: (path: string) => FileFacts | undefined;
}

/** The oldest supported version of Node. Node 20 reached its end of life in April 2026. */
const OLDEST_NODE = 22;
/** Flags with these prefixes let somebody read the exchange's data or change its behavior. */
const UNSAFE_FLAGS = [
  // These flags run other code before the exchange's code, or instead of it.
  ...['--require', '--import', '--loader', '--experimental-loader', '--conditions', '--eval', '--print'],
  ...['--snapshot-blob', '--experimental-config-file', '--experimental-default-config-file'],
  // These flags reveal or store keys, tokens, or memory.
  ...['--tls-keylog', '--trace-tls', '--inspect', '--experimental-network-inspection', '--heapsnapshot'],
  ...['--heap-prof', '--cpu-prof', '--prof', '--report', '--abort-on-uncaught-exception', '--diagnostic-dir'],
  // These flags weaken a protocol, or let the process continue after an error.
  ...['--insecure-http-parser', '--tls-min-v1.0', '--tls-min-v1.1', '--tls-cipher-list', '--security-revert'],
  ...['--openssl-legacy-provider', '--openssl-config', '--openssl-shared-config', '--unhandled-rejections'],
];
const UNSAFE_SHORT_FLAGS = ['-r', '-C', '-e', '-p', '-pe'];
const UNSAFE_VARIABLES = ['NODE_DEBUG', 'NODE_DEBUG_NATIVE'];

export function processProblems({ env, execArgv, nodeVersion, uid, file }: ProcessFacts): string[] {
  const problems: string[] = [];
  if (uid === 0) problems.push('This process runs as root. Run it as an ordinary user.');
  if (Number.parseInt(nodeVersion, 10) < OLDEST_NODE) {
    problems.push(
      `Node ${nodeVersion} gets no more security fixes. Run Node ${OLDEST_NODE} or later, best 24.`,
    );
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate. Unset it; name a private CA with NODE_EXTRA_CA_CERTS.',
    );
  }
  for (const [where, flags] of [
    ['command line', execArgv],
    // Remove quotes and backslashes. In NODE_OPTIONS, they only quote or escape characters and are not part of a flag.
    ['NODE_OPTIONS', (env.NODE_OPTIONS ?? '').replace(/["\\]/g, '').split(/\s+/)],
  ] as const) {
    // Convert underscores to dashes, because Node accepts both in a flag's name.
    const names = flags.map((flag) => flag.split('=')[0]!.replaceAll('_', '-'));
    const unsafe = names.filter(
      (name) => UNSAFE_FLAGS.some((flag) => name.startsWith(flag)) || UNSAFE_SHORT_FLAGS.includes(name),
    );
    for (const name of new Set(unsafe)) problems.push(`${name} is set (${where}). Remove it.`);
  }
  for (const name of UNSAFE_VARIABLES.filter((name) => env[name] !== undefined)) {
    problems.push(`${name} prints what callers send. Unset it.`);
  }
  const configMode = env.MEX_CONFIG === undefined ? undefined : file(env.MEX_CONFIG)?.mode;
  if (configMode !== undefined && (configMode & 0o077) !== 0) {
    problems.push(
      `MEX_CONFIG ${env.MEX_CONFIG} holds secrets and is open to others (mode ${octal(configMode)}). Run: chmod 600 ${env.MEX_CONFIG}`,
    );
  }
  return problems;
}

export function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`;
}
