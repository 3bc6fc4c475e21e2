/** Planted bugs in the checks of a duchy before it computes, and in the messages that it sends. */
import type { PlantedBug } from '../plant.ts';
import { inDuchy, test } from './edits.ts';

const found = (title: string) => test('duchy/test/stages/verification.test.ts', title);
const accepted = (title: string) => test('duchy/src/computations/accept.test.ts', title);

export const DUCHY_BUGS: PlantedBug[] = [
  {
    name: 'any-noise',
    edits: [
      inDuchy(
        'computations/accept.ts',
        'if (!duchy.noiseMechanisms.includes(noiseMechanism)) {',
        'if (false) {',
      ),
    ],
    foundBy: accepted('the noise mechanism is not one of the settings'),
  },
  {
    name: 'spec-of-anybody',
    edits: [
      inDuchy(
        'computations/accept.ts',
        "await requireConsent( 'SIGNATURE_INVALID', { field: 'measurementSpec' }, verifySignature(measurementSpec, certificate), );",
        '',
      ),
    ],
    foundBy: accepted('its consumer did not sign it'),
  },
  {
    // With this bug, the exchange can show a provider other duchies, or other noise, than the computation uses.
    name: 'terms-of-provider-ignored',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/upload.ts',
        'if (data[term] !== config[term])',
        'if (false)',
      ),
    ],
    foundBy: test('duchy/test/face/spoiledUploads.test.ts', 'another aggregator'),
  },
  {
    // With this bug, the exchange can change the terms, such as the noise, after the duchy has accepted them.
    name: 'changed-after-acceptance',
    edits: [
      inDuchy(
        'computations/follow.ts',
        'if (fixedPart(stored.view) !== fixedPart(view) || !keepsKeys(stored.view, view)) {',
        'if (false) {',
      ),
    ],
    foundBy: found('a computation fails if the exchange changes its accepted noise mechanism'),
  },
  {
    name: 'seed-of-anybody',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/shuffle.ts',
        "await requireConsent('SEED_INVALID', { requisition: name }, verifySignature(signed, certificate));",
        '',
      ),
    ],
    foundBy: found('a seed that another key signed fails the computation'),
  },
  {
    name: 'seed-twice',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/shuffle.ts',
        'if (secretSeeds.length !== expected.length || ',
        'if (',
      ),
    ],
    foundBy: found('one is duplicated'),
  },
  {
    name: 'other-noise-after-a-crash',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/shuffle.ts',
        'noiseSeed: noiseSeed! }',
        'noiseSeed: crypto.getRandomValues(noiseSeed!.map(() => 0)) }',
      ),
    ],
    foundBy: test('duchy/test/stages/noise.test.ts', 'of a worker is identical if its stage is repeated'),
  },
  {
    // With this bug, the exchange can replace a duchy's key with its own, and read the messages to that duchy.
    name: 'key-of-anybody',
    edits: [inDuchy('peers/verifiedKey.ts', 'verifySignature(publicKey, certificate)', 'Promise.resolve()')],
    foundBy: test('duchy/test/stages/lies.test.ts', 'a key that the other worker did not sign'),
  },
  {
    // With this bug, a duchy never gets a message that was sent while the duchy was down.
    name: 'sent-only-once',
    edits: [
      inDuchy(
        'mills/attempt.ts',
        'await sendOutput(duchy, computation, message, this.lease.signal);',
        'await sendOutput(duchy, computation, message, this.lease.signal).catch(() => undefined);',
      ),
    ],
    foundBy: test('duchy/test/stages/crashes.test.ts', 'and reports that duchy as OFFLINE'),
  },
  {
    name: 'outage-of-another-counts',
    edits: [inDuchy('mills/attempt.ts', 'counts: !waits', 'counts: true')],
    foundBy: test('duchy/test/stages/crashes.test.ts', 'and reports that duchy as OFFLINE'),
  },
  {
    // With this bug, a removed computation starts again, with another key and other noise than the first time.
    name: 'removed-and-begun-again',
    edits: [
      inDuchy(
        'database/computations.ts',
        'WHERE NOT EXISTS (SELECT FROM removed_computations WHERE id = $1)',
        'WHERE true',
      ),
    ],
    foundBy: test('duchy/test/database/retention.test.ts', 'a removed computation is not created again'),
  },
  {
    name: 'two-databases-of-one-duchy',
    edits: [inDuchy('stages/publishKey.ts', 'if (hasEnded(fresh) || ', 'if (hasEnded(fresh) || fresh || ')],
    foundBy: test('duchy/test/stages/oldCopies.test.ts', 'of two databases of one duchy'),
  },
  {
    name: 'certificate-cached-for-an-hour',
    edits: [inDuchy('client.ts', 'ttl: CERTIFICATE_MS', 'ttl: 60 * CERTIFICATE_MS')],
    foundBy: test('duchy/test/face/certificates.test.ts', 'a certificate is cached for 60 seconds'),
  },
  {
    name: 'storm-of-certificates',
    edits: [inDuchy('face/signed.ts', 'const MOST_REJECTED = 10;', 'const MOST_REJECTED = 1e6;')],
    foundBy: test('duchy/test/face/certificates.test.ts', 'many unknown certificates'),
  },
  {
    name: 'message-of-any-size',
    edits: [inDuchy('face/messages.ts', 'if (message.dataLength > BigInt(largest)) {', 'if (false) {')],
    foundBy: test('duchy/test/face/messages.test.ts', 'a length above the limit of this stage'),
  },
  {
    // With this bug, stages that fail and are retried many times are claimed before stages of newer computations.
    name: 'oldest-stage-first',
    edits: [inDuchy('database/leases.ts', 'run_after, create_time, id', 'create_time, id')],
    foundBy: test(
      'duchy/test/database/leases.test.ts',
      'a retried stage is claimed after the other due stages',
    ),
  },
  {
    // With this bug, a consumer with many due stages delays the stages of all other consumers.
    name: 'no-turns-of-consumers',
    edits: [inDuchy('database/leases.ts', 'WHERE consumer = due.consumer', 'WHERE false')],
    foundBy: test('duchy/test/database/leases.test.ts', 'stages of different consumers take turns'),
  },
  {
    // With this bug, chunks are encrypted with the duchy's own key, so copies of them can still be decrypted after the
    // computation has ended.
    name: 'blobs-under-the-key-of-the-duchy',
    edits: [inDuchy('database/blobs.ts', "await blobSecrets(db, computation, 'write')", 'db.secrets')],
    foundBy: test('duchy/test/database/storage.test.ts', 'is deleted with its key when its computation ends'),
  },
  {
    name: 'blob-key-outlives-the-outcome',
    edits: [
      inDuchy(
        'database/computations.ts',
        'blob_key = CASE WHEN $4 THEN blob_key END',
        'blob_key = CASE WHEN $4 THEN blob_key ELSE blob_key END',
      ),
    ],
    foundBy: test(
      'duchy/test/database/storage.test.ts',
      'cannot be read if the process died while it ended the computation',
    ),
  },
  {
    name: 'chunks-outlive-the-outcome',
    edits: [
      inDuchy(
        'database/computations.ts',
        'if (!keepsBlobs) await removeBlobsOf(db, id).catch(() => {});',
        '',
      ),
    ],
    foundBy: test('duchy/test/database/storage.test.ts', 'is deleted with its key when its computation ends'),
  },
  {
    // With this bug, only the first five blobs are removed when a computation ends, even if it has more.
    name: 'only-the-first-blobs-removed',
    edits: [
      inDuchy(
        'database/retention.ts',
        'await repeatedly(db, BLOBS_OF, [computation]);',
        'await db.query(BLOBS_OF, [computation]);',
      ),
    ],
    foundBy: test('duchy/test/database/storage.test.ts', 'is deleted with its key when its computation ends'),
  },
  {
    // With this bug, a 503 of the exchange would end a computation and delete its secrets.
    name: 'any-error-means-removed',
    edits: [
      inDuchy(
        'herald/herald.ts',
        "if (error instanceof ExchangeError && error.reason === 'COMPUTATION_NOT_FOUND') {",
        'if (error instanceof ExchangeError) {',
      ),
    ],
    foundBy: test('duchy/test/stages/exchangeErrors.test.ts', 'stays pending if getComputation fails with'),
  },
  {
    name: 'not-found-of-a-proxy-means-no-certificate',
    edits: [
      inDuchy(
        'computations/certificates.ts',
        "error.reason === 'CERTIFICATE_NOT_FOUND'",
        "error.code === 'NOT_FOUND'",
      ),
    ],
    foundBy: test('duchy/src/computations/certificates.test.ts', 'a 404 of a proxy'),
  },
  {
    name: 'a-403-fails-the-stage',
    edits: [
      inDuchy(
        'computations/exchange.ts',
        "'ABORTED', 'UNAUTHENTICATED', 'PERMISSION_DENIED'",
        "'ABORTED', 'UNAUTHENTICATED'",
      ),
    ],
    foundBy: test('duchy/src/computations/exchange.test.ts'),
  },
  {
    name: 'metrics-on-the-public-port',
    edits: [
      inDuchy(
        'face/server.ts',
        "app.get('/healthz', page, () => ({ status: 'ok' }));",
        "app.get('/healthz', page, () => ({ status: 'ok' })); app.get('/metrics', page, () => metrics.text());",
      ),
    ],
    foundBy: test('duchy/test/face/uploads.test.ts', 'only on the operations port'),
  },
  {
    name: 'every-proxied-sender-is-one',
    edits: [
      inDuchy(
        'face/server.ts',
        '...{ tls, trustedProxies, toError: toExchangeError }',
        '...{ tls, trustedProxies: [], toError: toExchangeError }',
      ),
    ],
    foundBy: test(
      'duchy/test/face/uploads.test.ts',
      'behind a trusted proxy are rate-limited by the client address',
    ),
  },
  {
    name: 'loopback-without-a-word-about-proxies',
    edits: [inDuchy('config/production.ts', 'isLoopback(host) && trustedProxies === undefined', 'false')],
    foundBy: test('duchy/src/config/config.test.ts', 'loopback host without trustedProxies'),
  },
  {
    name: 'a-cancel-is-a-warning',
    edits: [inDuchy('mills/attempt.ts', 'if (await this.isOver()) {', 'if (false) {')],
    foundBy: test(
      'duchy/test/stages/following.test.ts',
      'a measurement that is cancelled while duchies compute leaves no warning in their logs',
    ),
  },
];
