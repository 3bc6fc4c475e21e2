/** Planted bugs in the consumer and the client of the SDK. Tests with an exchange that lies find some of them. */
import type { PlantedBug } from '../plant.ts';
import { inConsumer, inMpc, test } from './edits.ts';

const lyingExchange = (name: string) => test('sdk/test/consumer/lyingExchange.test.ts', name);
const aboutDuchies = (name: string) => test('sdk/test/consumer/lyingExchangeShuffle.test.ts', name);
const question = (name: string) => test('sdk/test/consumer/question.test.ts', name);

export const CONSUMER_BUGS: PlantedBug[] = [
  {
    name: 'certificate-of-whoever-is-named',
    edits: [
      inConsumer(
        'consumer/create.ts',
        'trustedCertificate(name, certificate',
        'trustedCertificate(certificate.split("/certificates")[0]!, certificate',
      ),
    ],
    foundBy: lyingExchange('returns another provider under the requested name'),
  },
  {
    name: 'providers-not-bound',
    edits: [
      inConsumer('consumer/own.ts', 'if (!isItsOwn || ', 'if ('),
      inConsumer('consumer/binding.ts', '[...dataProviders].sort()', '[...dataProviders].slice(2)'),
    ],
    foundBy: lyingExchange('one provider was replaced by another'),
  },
  {
    name: 'missing-nonce-not-noticed',
    edits: [
      inConsumer(
        'consumer/own.ts',
        'if (nonceHashes.length === entries.length) return;',
        'if (entries.length > 0) return;',
      ),
    ],
    foundBy: lyingExchange('a measurement that uses its long-lived key'),
  },
  {
    name: 'result-key-for-all-measurements',
    edits: [
      inConsumer(
        'consumer/create.ts',
        'encodeMeasurementSpec(spec, keysets.publicKeyset, nonceHashes)',
        'encodeMeasurementSpec(spec, credentials.encryptionPublicKey, nonceHashes)',
      ),
      inConsumer(
        'consumer/create.ts',
        'encodeRequisitionSpec(selection, keysets.publicKeyset,',
        'encodeRequisitionSpec(selection, credentials.encryptionPublicKey,',
      ),
    ],
    foundBy: lyingExchange('results of another measurement of the same consumer'),
  },
  {
    name: 'question-of-any-measurement',
    edits: [
      inConsumer(
        'consumer/question.ts',
        'if (measurementSpecSha256 === (await hashOf(measurement.measurementSpec!)))',
        'if (measurementSpecSha256 !== "")',
      ),
    ],
    foundBy: question('encrypted again for another measurement'),
  },
  {
    name: 'question-of-any-signer',
    edits: [
      inConsumer(
        'consumer/question.ts',
        'isSignedByOwn(deps, measurement, signed, formerCertificate(deps))',
        'isSignedByOwn(deps, measurement, signed, parseCertificate)',
      ),
    ],
    foundBy: question('a forged certificate from the exchange'),
  },
  {
    name: 'own-signature-not-verified',
    edits: [
      inConsumer(
        'consumer/own.ts',
        'await requireOwnSignature(',
        'if (measurement.deleteTime) await requireOwnSignature(',
      ),
    ],
    foundBy: lyingExchange('a spec that was altered, or that has the signature of another spec'),
  },
  {
    name: 'list-in-circles',
    edits: [inConsumer('client/listing.ts', 'if (pageToken === passed)', 'if (pageToken === "")')],
    foundBy: test('sdk/test/consumer/lyingExchangeBounds.test.ts', 'a list that never ends'),
  },
  {
    name: 'any-duchy-computes',
    edits: [inConsumer('consumer/protocol.ts', 'if (!duchies.includes(duchy)) {', 'if (duchy === "") {')],
    foundBy: aboutDuchies('a result of a duchy that it does not accept'),
  },
  {
    name: 'any-duchy-signs',
    edits: [
      inConsumer(
        'consumer/open.ts',
        'computed ? [computed.aggregator] : dataProviders',
        'computed ? results.slice(0, 1).map(({ certificate }) => partyOf(certificate)) : dataProviders',
      ),
    ],
    foundBy: aboutDuchies('a worker in the role of the aggregator'),
  },
  {
    name: 'noise-as-the-exchange-says',
    edits: [
      inConsumer(
        'consumer/deduplicated.ts',
        'if (stated !== undefined && stated !== config.noiseMechanism) {',
        'if (stated === undefined && config.noiseMechanism === undefined) {',
      ),
    ],
    foundBy: aboutDuchies('the noise mechanism NONE'),
  },
  {
    name: 'duchies-half-charged',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/charge.ts',
        'spent = frequency.spent + Math.max(reach.spent, frequency.spent);',
        'spent = Math.max(reach.spent, frequency.spent);',
      ),
    ],
    foundBy: test('mpc/src/privacy/mpcCharge.test.ts', 'the reach and one frequency'),
  },
  {
    name: 'decoded-metadata-without-bound',
    edits: [inConsumer('consumer/eventGroups.ts', 'if (tooLarge !== undefined) {', 'if (false) {')],
    foundBy: test('sdk/test/consumer/eventGroups.test.ts', 'exceeds the size limit as JSON'),
  },
  {
    name: 'sketch-interval-without-the-sample',
    edits: [inMpc('privacy/liquidLegionsReach.ts', ' + slope ** 2 * people * (1 - width)', '')],
    foundBy: test('mpc/src/privacy/liquidLegionsReach.test.ts', 'wider with a smaller sample'),
  },
  {
    name: 'sketch-interval-with-the-noise-of-the-frequency',
    edits: [
      inConsumer(
        'consumer/protocols/liquidLegions.ts',
        'privacyParams, shapes.reach)',
        'privacyParams, shapes.frequency)',
      ),
    ],
    foundBy: test('sdk/src/consumer/protocols/liquidLegions.test.ts', 'noise of the four duchies'),
  },
  {
    name: 'sketch-estimate-with-its-bias',
    edits: [inMpc('privacy/liquidLegions.ts', '(noiseVariance / 2) *', '0 *')],
    foundBy: test('mpc/src/privacy/liquidLegions.test.ts', 'corrects the bias of noise in the count'),
  },
  {
    // With this bug, a typo in a filter creates a measurement that some providers refuse. Other providers may already
    // have charged their privacy budgets for the measurement.
    name: 'bad-filter-sent',
    edits: [
      inConsumer(
        'consumer/filters.ts',
        'if (rejected.length > 0) throw new FilterRejected(rejected);',
        'if (false) throw new FilterRejected(rejected);',
      ),
    ],
    foundBy: test('cli/test/measurePlan.test.ts', 'is checked only for its syntax'),
  },
  {
    name: 'planned-as-if-created',
    edits: [
      inConsumer(
        'consumer/plan.ts',
        'Promise.all([send(deps, prepared, true)',
        'Promise.all([send(deps, prepared)',
      ),
    ],
    foundBy: test('cli/test/measurePlan.test.ts', 'is printed by --dry-run'),
  },
];
