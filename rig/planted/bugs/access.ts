/** Planted bugs in authorization, rate limits and the audit log. */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const PIPELINE = 'serving/pipeline.ts';
const IDENTIFY = 'serving/identify.ts';

export const ACCESS_BUGS: PlantedBug[] = [
  {
    // With this bug, a caller without the right to see a resource learns whether the resource exists.
    name: 'lookup-before-authorization',
    edits: [
      inExchange(
        'http/api.ts',
        'const proceed = (caller: Authenticated)',
        'const proceed = async (caller: Authenticated)',
      ),
      inExchange(
        'http/api.ts',
        'pipeline.authorize(caller, match)',
        'await pipeline.authorize(caller, match)',
      ),
      inExchange(
        'http/api.ts',
        'if (caller instanceof Promise) { caller.then(proceed)',
        'if (caller !== undefined) { Promise.resolve(caller).then(proceed)',
      ),
      inExchange(PIPELINE, 'authorize(caller: Authenticated', 'async authorize(caller: Authenticated'),
      inExchange(
        PIPELINE,
        'authorize(principal, match.route, match.params); const bucket',
        `if (match.route.method === 'GET' && Object.keys(match.params).length > 0) {
           const { readRequest } = await import('@measurement-exchange/contract');
           const operation = operations[match.route.operation as Operation] as Handler<never>;
           const request = readRequest(match.route, match.params, '', undefined);
           await operation(this.options.exchange, undefined as never, request as never);
         }
         authorize(principal, match.route, match.params); const bucket`,
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'own-means-any',
    edits: [inExchange('domain/access.ts', 'return owner === principal.id;', 'return owner !== WILDCARD;')],
    foundBy: 'H11',
  },
  {
    // With this bug, the exchange accepts a token that was issued both for this exchange and for another service.
    name: 'shared-audience-accepted',
    edits: [inExchange('auth/claims.ts', 'audiences.every(', 'audiences.some(')],
    foundBy: 'H12',
  },
  {
    name: 'suspended-party-served',
    edits: [inExchange('auth/principals.ts', "if (record.state === 'SUSPENDED') {", 'if (false) {')],
    foundBy: test('exchange/src/auth/principals.test.ts'),
  },
  {
    // With this bug, a descriptor set of 60 KB can become 30 MB of JSON.
    name: 'printed-size-not-limited',
    edits: [
      inExchange(
        'protobuf/descriptor/descriptorSet.ts',
        'const MAX_SET_JSON = 8 *',
        'const MAX_SET_JSON = 800 *',
      ),
    ],
    foundBy: test('exchange/src/protobuf/descriptor/options.test.ts', 'that would print to more than 8 MiB'),
  },
  {
    // With this bug, a long chain of types exhausts the stack, because the protobuf runtime follows types recursively.
    name: 'type-chains-not-limited',
    edits: [inExchange('protobuf/descriptor/typeChains.ts', 'if (longest > MAX_CHAIN)', 'if (false)')],
    foundBy: test('exchange/src/protobuf/descriptor/typeChains.test.ts'),
  },
  {
    // With this bug, a provider can make a consumer's page of event groups too large by replacing a descriptor with a
    // large one.
    name: 'page-of-metadata-not-cut',
    edits: [
      inExchange(
        'operations/eventGroups/list.ts',
        'viewEventGroups(exchange.db, call, side, items, MAX_PAGE_BYTES)',
        'viewEventGroups(exchange.db, call, side, items)',
      ),
    ],
    foundBy: test('exchange/test/hostile/descriptors.test.ts', 'cannot make the page of a consumer exceed'),
  },
  {
    name: 'descriptor-work-on-the-event-loop',
    edits: [
      inExchange('serving/computing.ts', '(isShort[job] as (input: Input<J>) => boolean)(input)', 'isShort'),
    ],
    foundBy: test('exchange/src/serving/computing.test.ts', 'off the event loop'),
  },
  {
    name: 'descriptor-work-not-charged',
    edits: [inExchange('serving/computing.ts', 'charge(ms);', ';')],
    foundBy: test('exchange/src/serving/computing.test.ts', 'off the event loop'),
  },
  {
    name: 'rate-not-limited',
    edits: [inExchange(PIPELINE, 'bucket.take();', ';')],
    foundBy: test('exchange/test/hostile/callers.test.ts', 'a principal beyond its rate'),
  },
  {
    name: 'bad-tokens-not-limited',
    edits: [inExchange(IDENTIFY, 'forged?.take();', 'throw error;')],
    foundBy: test('exchange/test/hostile/callers.test.ts', 'too many bad tokens'),
  },
  {
    // With this bug, a caller is rejected if it has the same address as another caller that sends forged tokens.
    name: 'known-subject-not-told-apart',
    edits: [inExchange(IDENTIFY, 'if (knownSubject !== undefined) {', 'if (false) {')],
    foundBy: test('exchange/src/serving/identify.test.ts', 'a new token of a known subject'),
  },
  {
    name: 'stranger-not-limited',
    edits: [inExchange(IDENTIFY, 'throw isStranger(error) ?', 'throw false ?')],
    foundBy: test('exchange/test/hostile/callers.test.ts', 'no principal'),
  },
  {
    // With this bug, a party can register another party's certificate first, and then the owner cannot register it.
    name: 'certificate-unique-across-parties',
    edits: [
      inExchange('database/certificates.ts', 'WHERE party = $1 AND sha256', "WHERE $1 <> '' AND sha256"),
    ],
    foundBy: test('exchange/test/certificates/certificates.test.ts', 'by another party reserves neither'),
  },
  {
    name: 'development-takes-any-database',
    edits: [inExchange('database/migrate.ts', "(await modeOf(client)) === 'production'", 'false')],
    foundBy: test('exchange/test/database/mode.test.ts'),
  },
  {
    name: 'fingerprint-not-compared',
    edits: [
      {
        file: 'cli/src/admin/onboard.ts',
        find: 'requireFingerprint(path, file, options.fingerprint);',
        replace: '',
      },
    ],
    foundBy: test('cli/test/onboard.test.ts', 'registers nothing when the fingerprint'),
  },
  {
    name: 'request-id-not-told',
    edits: [
      { file: 'cli/src/connection/client.ts', find: "error.code === 'INTERNAL' && ", replace: 'false && ' },
    ],
    foundBy: test('cli/test/errors.test.ts', ': every command reports it'),
  },
  {
    name: 'wait-not-told',
    edits: [
      { file: 'cli/src/connection/client.ts', find: 'seconds === undefined ||', replace: 'seconds !== 0 ||' },
    ],
    foundBy: test('cli/test/errors.test.ts', '429 for long'),
  },
  {
    name: 'authorization-logged',
    edits: [
      inExchange(
        PIPELINE,
        'const began =',
        'Object.assign(progress, { authorization: (credentials as { token?: string }).token }); const began =',
      ),
      inExchange(
        'serving/observe.ts',
        'ms: ms && Math.round(ms * 100) / 100,',
        'ms: ms && Math.round(ms * 100) / 100, authorization: (progress as never as Record<string, string>).authorization,',
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'token-of-any-client-accepted',
    edits: [inExchange('auth/claims.ts', '].includes(azp as string)', '].length === 0')],
    foundBy: test('exchange/src/auth/claims.test.ts', 'are accepted if azp is a configured client'),
  },
  {
    // With this bug, the CLI sends the user's token to any exchange, which could then act as the user.
    name: 'login-sent-to-any-exchange',
    edits: [
      {
        file: 'cli/src/connection/token.ts',
        find: 'return isSameExchange && profile',
        replace: 'return profile',
      },
      {
        file: 'cli/src/connection/token.ts',
        find: 'profile.issuer !== undefined',
        replace: 'profile?.issuer !== undefined',
      },
    ],
    foundBy: test('cli/test/login.test.ts', 'sends a login to no other exchange'),
  },
  {
    name: 'refresh-token-used-twice',
    edits: [
      {
        file: 'cli/src/signIn/logins.ts',
        find: 'if (login !== undefined && isFresh(login)) return login.idToken;',
        replace: '',
      },
    ],
    foundBy: test('cli/test/login.test.ts', 'renews an expired token once'),
  },
];
