/** The process production runs in: its account, its Node, its flags and its environment. */

export interface FileFacts {
  /** The permission bits. */
  mode: number;
  readable: boolean;
}

/** What the checks know of the world, so that they are pure. */
export interface Surroundings {
  env: Record<string, string | undefined>;
  execArgv: string[];
  nodeVersion: string;
  /** Undefined where there are no numbers for accounts. */
  uid: number | undefined;
  /** Undefined when it is not there. */
  file: (path: string) => FileFacts | undefined;
}

/** Node 20 ended in April 2026. */
const OLDEST_NODE = 22;
/** Each lets whoever can set or reach it read or bend what the exchange does. */
const UNSAFE_FLAGS = ['--inspect', '--insecure-http-parser'];
const TEST_VARIABLES = ['MEX_FAILPOINT', 'MEX_FAKE_CLOCK', 'MEX_TEST_'];

export function processProblems({ env, execArgv, nodeVersion, uid, file }: Surroundings): string[] {
  const problems: string[] = [];
  if (uid === 0) problems.push('The exchange runs as root. Run it as an ordinary user.');
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
    ['NODE_OPTIONS', (env.NODE_OPTIONS ?? '').replaceAll('"', '').split(/\s+/)],
  ] as const) {
    // Node takes an underscore for a dash.
    const names = flags.map((flag) => flag.replaceAll('_', '-'));
    for (const unsafe of UNSAFE_FLAGS) {
      const found = names.find((name) => name.startsWith(unsafe));
      if (found !== undefined) problems.push(`${found.split('=')[0]} is set (${where}). Remove it.`);
    }
  }
  for (const name of Object.keys(env).filter((name) =>
    TEST_VARIABLES.some((test) => name.startsWith(test)),
  )) {
    problems.push(`${name} is for tests only. Unset it.`);
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
