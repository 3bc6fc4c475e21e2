/** Planted bugs in the checks that bind keys, seeds, shares and messages to one computation and its terms. */
import type { Edit, PlantedBug } from '../plant.ts';
import { inConsumer, inDuchy, inExchange, inMpc, inProvider, test } from './edits.ts';

const inConsent = (file: string, find: string, replace: string): Edit => ({
  file: `consent/src/messages/${file}`,
  find,
  replace,
});
const inSealing = (file: string, find: string, replace: string): Edit => ({
  file: `consent/src/sealing/${file}`,
  find,
  replace,
});
const PROVIDER_VERIFIES = test('sdk/src/provider/verify/shareShuffle.test.ts');
const RING_VERIFIES = test('sdk/src/provider/verify/liquidLegions.test.ts');
const seed = (name: string) => test('duchy/test/stages/verification.test.ts', name);
const upload = (name: string) => test('duchy/test/face/spoiledUploads.test.ts', name);
const message = (name: string) => test('duchy/test/face/messages.test.ts', name);
const SEALING_TEST = test('consent/src/sealing/sealing.test.ts');
const PROOF_TEST = test('mpc/src/elGamal/proof.test.ts');
const TERMS_TEST = test('consent/src/messages/terms.test.ts');

const peers = (name?: string) => test('duchy/test/coalitions/peerEndpoints.test.ts', name);
const agentUploads = (name: string) => test('sdk/test/provider/shareUploads.test.ts', name);

export const BINDING_BUGS: PlantedBug[] = [
  {
    // With this bug, the exchange can make a duchy connect to a service in the duchy's private network.
    name: 'message-to-a-private-address',
    edits: [
      inDuchy(
        'peers/address.ts',
        'if (requiresPublicPeers && pinned === undefined) return',
        'if (requiresPublicPeers && pinned === undefined && peer === url.href) return',
      ),
    ],
    foundBy: peers('in production'),
  },
  {
    name: 'message-in-the-clear',
    edits: [inDuchy('peers/address.ts', '{ allowHttp: !requiresPublicPeers }', '{ allowHttp: true }')],
    foundBy: peers('in production'),
  },
  {
    name: 'text-of-a-peer-logged',
    edits: [inDuchy('peers/send.ts', 'Object.hasOwn(REASONS, error.reason)', 'REASONS !== undefined')],
    foundBy: peers('no other text of the peer'),
  },
  {
    name: 'peer-endpoint-not-pinned',
    edits: [
      inDuchy(
        'peers/address.ts',
        'peers && Object.hasOwn(peers, peer) ? peers[peer]!.endpoint : undefined',
        'peers && !peer ? peers[peer]!.endpoint : undefined',
      ),
    ],
    foundBy: peers(),
  },
  {
    // With this bug, only the text of a host name is checked, although the name can resolve to any address.
    name: 'address-of-a-name-not-checked',
    edits: [
      inConsumer(
        'endpoints.ts',
        'addresses.length === 0 || addresses.some(({ address }) => !isPublicAddress(address))',
        'addresses.length === 0',
      ),
    ],
    foundBy: peers(),
  },
  {
    name: 'address-in-a-url-not-checked',
    edits: [
      inConsumer('endpoints.ts', 'if (isIP(host) !== 0 && !isPublicAddress(host))', 'if (isIP(host) === 9)'),
    ],
    foundBy: agentUploads('is not sent if the endpoint is missing'),
  },
  {
    name: 'upload-to-a-private-address',
    edits: [
      inProvider(
        'multiParty/upload.ts',
        'allowPrivate ? {} : publicOnly(url)',
        '!allowPrivate ? {} : publicOnly(url)',
      ),
    ],
    foundBy: agentUploads('is not sent if the endpoint is missing'),
  },
  {
    name: 'pinned-endpoint-must-be-public',
    edits: [
      inProvider('multiParty/pendingUploads.ts', 'isPinned || allowHttp === true', 'allowHttp === true'),
    ],
    foundBy: agentUploads('a private endpoint from the settings'),
  },
  {
    // With this bug, the exchange and the consumer can show one duchy a different specification than the other parties
    // see.
    name: 'terms-of-keys-not-compared',
    edits: [
      inConsent('binding.ts', 'if (!equalBytes(found.termsSha256, expected.termsSha256)) {', 'if (false) {'),
    ],
    foundBy: PROVIDER_VERIFIES,
  },
  {
    name: 'key-of-any-computation',
    edits: [
      inConsent(
        'binding.ts',
        "for (const field of ['purpose', 'duchy', 'computation', 'requisition'] as const) {",
        "for (const field of ['purpose', 'duchy', 'requisition'] as const) {",
      ),
    ],
    foundBy: PROVIDER_VERIFIES,
  },
  {
    name: 'key-of-any-duchy',
    edits: [
      inConsent(
        'binding.ts',
        "for (const field of ['purpose', 'duchy', 'computation', 'requisition'] as const) {",
        "for (const field of ['purpose', 'computation', 'requisition'] as const) {",
      ),
    ],
    foundBy: PROVIDER_VERIFIES,
  },
  {
    name: 'key-of-any-purpose',
    edits: [
      inConsent(
        'binding.ts',
        "for (const field of ['purpose', 'duchy', 'computation', 'requisition'] as const) {",
        "for (const field of ['duchy', 'computation', 'requisition'] as const) {",
      ),
    ],
    foundBy: PROVIDER_VERIFIES,
  },
  {
    name: 'unbound-key-taken',
    edits: [
      inConsent(
        'binding.ts',
        'if (found === undefined) {',
        'if (found === undefined) return found as never; if (false) {',
      ),
    ],
    foundBy: PROVIDER_VERIFIES,
  },
  {
    name: 'ring-key-of-other-terms',
    edits: [
      inConsent(
        'publishedKey.ts',
        "requireBinding('The ElGamalPublicKey', binding, expected);",
        'void [requireBinding, binding];',
      ),
    ],
    foundBy: RING_VERIFIES,
  },
  {
    name: 'seed-of-another-requisition',
    edits: [
      inConsent(
        'binding.ts',
        "for (const field of ['purpose', 'duchy', 'computation', 'requisition'] as const) {",
        "for (const field of ['purpose', 'duchy', 'computation'] as const) {",
      ),
    ],
    foundBy: seed('fail the computation if the provider signed one for'),
  },
  {
    name: 'seed-not-bound',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/shuffle.ts',
        "Promise.try(() => requireBinding('The RandomSeed', binding, expected))",
        'Promise.resolve([requireBinding, binding, expected])',
      ),
    ],
    foundBy: seed('fail the computation if the provider signed one for'),
  },
  {
    // With this bug, the worker that sends its half of the seed last can choose the seed that both workers use.
    name: 'half-not-committed',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/shuffle.ts',
        'if (!equalBytes(await seedCommitment(peerRandomSeed, peer, computation.id), committed)) {',
        'if (await seedCommitment(peerRandomSeed, peer, computation.id), equalBytes(committed, [])) {',
      ),
    ],
    foundBy: seed('the random seed is not the one to which the worker committed'),
  },
  {
    name: 'terms-without-protocol',
    edits: [
      inConsent(
        'terms.ts',
        'utf8(canonicalJson(ProtocolConfig, protocolConfig)),',
        'utf8(canonicalJson(ProtocolConfig, protocolConfig).slice(0, 0)),',
      ),
    ],
    foundBy: TERMS_TEST,
  },
  {
    name: 'terms-without-lengths',
    edits: [
      inConsent(
        'terms.ts',
        '...nonceHashes.toSorted(compareBytes), ]; return sha256(concat(...parts.flatMap((part) => [lengthOf(part), part])));',
        '...nonceHashes.toSorted(compareBytes), ]; return sha256(concat(...parts));',
      ),
    ],
    foundBy: TERMS_TEST,
  },
  {
    name: 'proof-of-any-duchy',
    edits: [
      inMpc('elGamal/proof.ts', '.update(digestOf(context))', '.update(digestOf(context).subarray(0, 0))'),
    ],
    foundBy: PROOF_TEST,
  },
  {
    // With this bug, two proofs for the same key in different contexts reveal the secret key.
    name: 'proofs-share-a-commitment',
    edits: [
      inMpc(
        'elGamal/proof.ts',
        "hkdfSync('sha256', secretKey, about, purpose, SEED_BYTES)",
        "hkdfSync('sha256', secretKey, '', purpose, SEED_BYTES)",
      ),
    ],
    foundBy: PROOF_TEST,
  },
  {
    // With this bug, the worker that gets the seed could also read the share, and compute the frequency vector from
    // both.
    name: 'share-encrypted-for-the-other-worker',
    edits: [
      inProvider(
        'multiParty/honestMajorityShareShuffle/share.ts',
        'newSealingKey(verified.shareShuffle!.fulfillingKeyset,',
        'newSealingKey(verified.shareShuffle!.peerKeyset,',
      ),
    ],
    foundBy: test('sdk/test/provider/shareShuffle.test.ts', 'combined with the seed for the other worker'),
  },
  {
    name: 'sealed-for-any-context',
    edits: [
      inSealing(
        'pieces.ts',
        'nonceOf(ordinal++, isLast)).setAAD(Buffer.from(context));',
        'nonceOf(ordinal++, isLast)).setAAD(Buffer.from(context.slice(0, 0)));',
      ),
      inSealing(
        'pieces.ts',
        '.setAAD(Buffer.from(context)) .setAuthTag(',
        '.setAAD(Buffer.from(context.slice(0, 0))) .setAuthTag(',
      ),
    ],
    foundBy: SEALING_TEST,
  },
  {
    name: 'last-piece-not-marked',
    edits: [
      inSealing('pieces.ts', 'nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;', 'nonce[11] = isLast ? 0 : 0;'),
    ],
    foundBy: SEALING_TEST,
  },
  {
    name: 'upload-under-other-terms',
    edits: [
      inDuchy(
        'face/fulfillment.ts',
        'if (equalBytes(termsSha256, await termsOf(stored))) return;',
        'return;',
      ),
    ],
    foundBy: upload('other terms'),
  },
  {
    name: 'upload-of-another-computation',
    edits: [inDuchy('face/fulfillment.ts', 'if (computation !== stored.id) {', 'if (false) {')],
    foundBy: upload('another computation'),
  },
  {
    name: 'message-under-other-terms',
    edits: [
      inDuchy(
        'face/messages.ts',
        'if (!equalBytes(message.termsSha256, await termsOf(computation))) {',
        'if (false) {',
      ),
    ],
    foundBy: message('other terms'),
  },
  {
    name: 'hostile-message-is-a-defect',
    edits: [
      inDuchy(
        'face/messages.ts',
        "throw invalid([ { field: 'message.message', description: 'must be a serialized mex.contract.StageMessage' }, ]);",
        "throw new Error('invalid');",
      ),
    ],
    foundBy: test('duchy/test/coalitions/hostileMessages.test.ts', 'hostile uploads and messages'),
  },
  {
    name: 'free-text-in-a-response-and-the-log',
    edits: [inDuchy('face/messages.ts', 'takes, and is not`', 'takes, and is not` + message.stage')],
    foundBy: test('duchy/test/coalitions/hostileMessages.test.ts', 'hostile uploads and messages'),
  },
  {
    // With this bug, a ring continues although its duchies encrypt messages for keys of other computations.
    name: 'message-keys-not-confirmed',
    edits: [
      inDuchy(
        'protocols/liquidLegions/confirm.ts',
        'await requireSameTerms(work);',
        'void requireSameTerms;',
      ),
    ],
    foundBy: test('duchy/test/stages/liquidLegions.test.ts', 'key for messages to a duchy was signed for'),
  },
  {
    // With this bug, the agent retries an upload for hours although the computation has ended.
    name: 'ended-ring-is-unavailable',
    edits: [
      inDuchy('protocols/liquidLegions/upload.ts', 'if (fresh.outcome !== null) throw', 'if (false) throw'),
      inDuchy(
        'face/fulfillment.ts',
        'if (computation.outcome === null) await rules.requireKeys',
        'await rules.requireKeys',
      ),
    ],
    foundBy: test('duchy/test/coalitions/ringTerms.test.ts'),
  },
  {
    // With this bug, a provider that uploads to the first worker has no key to encrypt its share with.
    name: 'one-worker-key-shown',
    edits: [
      inExchange(
        'operations/requisitions/view.ts',
        "(p) => !isShuffle || p.role !== 'AGGREGATOR'",
        "(p) => !isShuffle || p.role === 'SECOND_WORKER'",
      ),
    ],
    foundBy: test('exchange/test/computations/parameters.test.ts', 'show both workers once all duchies'),
  },
];
