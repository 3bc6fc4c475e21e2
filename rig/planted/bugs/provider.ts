/** Planted bugs in the agent of a data provider and in its ledger. */
import type { PlantedBug } from '../plant.ts';
import { inConsumer, inMpc, inProvider, test } from './edits.ts';

const LEDGER_TEST = test('sdk/src/provider/ledger.test.ts');
const VERIFY_TEST = test('sdk/src/provider/verify.test.ts');
const COMPUTE_TEST = test('sdk/src/provider/compute.test.ts');
const DUCHIES_TEST = test('sdk/src/provider/verify/shareShuffle.test.ts');
const RING_TEST = test('sdk/src/provider/verify/liquidLegions.test.ts');
const shareTest = (name: string) => test('sdk/test/provider/shareShuffle.test.ts', name);
const uploadTest = (name: string) => test('sdk/test/provider/shareUploads.test.ts', name);
const agentTest = (name: string) => test('sdk/test/provider/agent.test.ts', name);
const retryTest = (name: string) => test('sdk/test/provider/agentRetries.test.ts', name);

export const PROVIDER_BUGS: PlantedBug[] = [
  {
    name: 'combinations-unbounded',
    edits: [inProvider('events/evaluation.ts', 'if (found > maximumCombinations) {', 'if (found < 0) {')],
    foundBy: agentTest('two event files differ in one line'),
  },
  {
    // With this bug, a filter that is too expensive is refused only after the events were read. The refusal then
    // depends on the content of the events.
    name: 'steps-not-decided-by-the-filter',
    edits: [inProvider('events/selection.ts', 'if (sum(({ rest }) => rest?.cost) > most) {', 'if (false) {')],
    foundBy: test('sdk/src/provider/events.test.ts', 'regardless of the events'),
  },
  {
    name: 'killed-filter-not-noticed',
    edits: [
      inProvider(
        'filter/evaluator.ts',
        "reject(new QueryStopped('The filter takes too much time or memory.'));",
        'resolve({ matched: [false] });',
      ),
    ],
    foundBy: test('sdk/src/provider/filter/evaluator.test.ts', 'is killed if it takes'),
  },
  {
    name: 'budget-per-requisition',
    edits: [inProvider('ledger.ts', 'const after = addUnits(spent, added);', 'const after = added;')],
    foundBy: LEDGER_TEST,
  },
  {
    name: 'charged-per-attempt',
    edits: [
      inProvider(
        'ledger.ts',
        'const added = excessUnits(charge.cost, charged);',
        'const added = (charged, charge.cost);',
      ),
    ],
    foundBy: LEDGER_TEST,
  },
  {
    // With this bug, a crash between two charges of a requisition leaves the requisition charged only in part.
    name: 'charge-outside-transaction',
    edits: [
      inProvider('ledger.ts', "database.exec('BEGIN IMMEDIATE');", ''),
      inProvider('ledger.ts', "database.exec('COMMIT');", ''),
    ],
    foundBy: LEDGER_TEST,
  },
  {
    name: 'result-drawn-again',
    edits: [inProvider('ledger.ts', 'if (stored) return stored;', 'if (stored) return given;')],
    foundBy: LEDGER_TEST,
  },
  {
    // With this bug, an update of the agent forgets earlier charges, so budget that was already spent can be spent
    // again.
    name: 'update-forgets-spending',
    edits: [
      inProvider(
        'ledger/tables.ts',
        'sum(epsilon), sum(delta), sum(rho) FROM totals_1',
        '0, 0, 0 FROM totals_1',
      ),
    ],
    foundBy: test('sdk/src/provider/ledger/schema.test.ts'),
  },
  {
    name: 'update-forgets-charges-to-everybody',
    edits: [
      inProvider(
        'ledger/tables.ts',
        'SELECT reference, day, 1, epsilon, delta, rho FROM totals_6',
        'SELECT reference, day, 1, 0, 0, 0 FROM totals_6',
      ),
    ],
    foundBy: test('sdk/src/provider/ledger/schema.test.ts', 'loses no charge'),
  },
  {
    // With this bug, an event group that selects all people is charged only to the people of another event group.
    name: 'slice-of-one-event-group',
    edits: [inProvider('slice.ts', 'selected.includes(undefined)', 'selected.every((ranges) => !ranges)')],
    foundBy: test('sdk/test/provider/slices.test.ts', 'its event groups select different people'),
  },
  {
    // With this bug, a person whose VID changed with the population looks like a different person, so that charges are
    // not added up.
    name: 'populations-not-told-apart',
    edits: [inProvider('events/selection.ts', 'data.population?.fingerprint ?? null', 'null')],
    foundBy: test('sdk/test/provider/slices.test.ts', 'adds the charges of two populations'),
  },
  {
    // With this bug, people with overlapping slices are charged for only one of the slices.
    name: 'slices-never-overlap',
    edits: [
      inMpc(
        'charges/slices.ts',
        'combined.add(mask & other);',
        'combined.add(mask & other & -(mask & other));',
      ),
    ],
    foundBy: test('mpc/src/charges/slices.test.ts', 'equals a brute-force count over all points'),
  },
  {
    // With this bug, a measurement that selects no people would be free and could be repeated without limit.
    name: 'nobody-is-free',
    edits: [
      inMpc(
        'charges/slices.ts',
        'if (axes.some(([, intervals]) => intervals.length === 0)) return EVERYBODY;',
        '',
      ),
    ],
    foundBy: test('mpc/src/charges/slices.test.ts', 'an empty slice counts as everybody'),
  },
  {
    // With this bug, DuckDB would read an invalid time as NULL and omit the event.
    name: 'bad-time-left-out',
    edits: [
      inProvider('events/duckdb/csv.ts', 'TIMESTAMP, VARCHAR }', 'TIMESTAMP, TIMESTAMPTZ }'),
      inProvider('events/duckdb/csv.ts', 'typed(VARCHAR)', 'typed(TIMESTAMPTZ)'),
    ],
    foundBy: test('sdk/src/provider/events/duckdb/columns.test.ts', 'and does not skip the row'),
  },
  {
    name: 'cost-rounded-down',
    edits: [inMpc('charges/amounts.ts', "=> inUnits(amount, 'up');", "=> inUnits(amount, 'down');")],
    foundBy: LEDGER_TEST,
  },
  {
    name: 'only-first-day-charged',
    edits: [inMpc('charges/cost.ts', 'daysOf(interval).entries()', 'daysOf(interval).slice(0, 1).entries()')],
    foundBy: COMPUTE_TEST,
  },
  {
    name: 'result-without-noise',
    edits: [
      inProvider(
        'compute.ts',
        'const value = exact + drawNoise(mechanism, params, sensitivity, random);',
        'const value = exact;',
      ),
    ],
    foundBy: COMPUTE_TEST,
  },
  {
    // A changed event moves a person from one bin to another. With this bug, only one of the two bins is charged.
    name: 'histogram-charged-as-one-bin',
    edits: [
      inMpc(
        'charges/releases.ts',
        'release(frequencyPrivacyParams, 1n, 2)',
        'release(frequencyPrivacyParams)',
      ),
    ],
    foundBy: test('sdk/test/provider/privacyClaims.test.ts', 'with geometric noise'),
  },
  {
    name: 'refusal-quotes-specification',
    edits: [
      inConsumer(
        'refusals/refusalError.ts',
        'justification: this.justification, message:',
        'justification: this.justification, message: this.message +',
      ),
    ],
    foundBy: test('sdk/test/provider/refusals.test.ts', 'the log of a refusal has details'),
  },
  {
    name: 'consumer-signature-not-verified',
    edits: [
      inProvider(
        'verify.ts',
        "return refuseOnConsentError('SIGNATURE_INVALID', at, verifySignature(signed, certificate));",
        'return Promise.resolve();',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'consumer-not-listed-for-events',
    edits: [
      inProvider(
        'verify/selection.ts',
        'if (access?.measurementConsumers.includes(measurementConsumer)) return reference;',
        'if (access !== undefined) return reference;',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'reference-told-by-exchange',
    edits: [
      inProvider(
        'verify/selection.ts',
        'ownReference(place.name, references) ?? eventGroupReferenceId',
        'eventGroupReferenceId || ownReference(place.name, references)',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'nonce-not-verified',
    edits: [
      inProvider(
        'verify/keys.ts',
        'if (nonce === 0n || !(await nonceMatches(nonce, hash))) {',
        'if (nonce === 0n) {',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'nonce-hash-not-signed',
    edits: [
      inProvider(
        'verify/keys.ts',
        'if (!signedHashes.some((signed) => equalBytes(signed, hash))) {',
        'if (false) {',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'refused-on-transient-error',
    edits: [
      inProvider(
        'fulfill.ts',
        'error instanceof RefusalError ? error.refusal : undefined',
        "error instanceof RefusalError ? error.refusal : { justification: 'UNFULFILLABLE' }",
      ),
    ],
    foundBy: retryTest('while event groups are unreachable'),
  },
  {
    // With this bug, a failure after the fulfillment makes the agent draw another result.
    name: 'sent-before-stored',
    edits: [
      inProvider(
        'agent/responder.ts',
        'return { requisition: fresh, response: ledger',
        'await fulfillOrRefuse(client, fresh, sealed, signal); return { requisition: fresh, response: ledger',
      ),
    ],
    foundBy: retryTest('charges a result before it is sent'),
  },
  {
    name: 'killed-again-and-again',
    edits: [inProvider('agent/responder.ts', 'if (attempts <= MAX_ATTEMPTS) return;', 'return;')],
    foundBy: agentTest('the agent was killed five times'),
  },
  {
    name: 'charged-after-scan',
    edits: [
      inProvider(
        'agent/responder.ts',
        'this.begin(verified, chargesFor(verified, methodology, people)); const seal',
        'const seal',
      ),
      inProvider(
        'agent/responder.ts',
        'const sealed = await',
        'this.begin(verified, chargesFor(verified, methodology, people)); const sealed = await',
      ),
    ],
    foundBy: agentTest('a refusal that the scan caused'),
  },
  {
    name: 'closed-requisition-charged',
    edits: [
      inProvider(
        'agent/responder.ts',
        "if (fresh.state !== 'UNFULFILLED') return { requisition: fresh };",
        '',
      ),
    ],
    foundBy: retryTest('cancelled before the events are read'),
  },
  {
    name: 'duchy-in-two-roles',
    edits: [
      inProvider(
        'verify/duchies.ts',
        'if (participants.some((other, j) => j !== i && other.duchy === duchy)) {',
        'if (false) {',
      ),
    ],
    foundBy: DUCHIES_TEST,
  },
  {
    // With this bug, the exchange could replace the duchy's key with its own, and decrypt the seed.
    name: 'duchy-key-not-verified',
    edits: [
      inProvider(
        'verify/duchies.ts',
        'verifySignature(key, certificate).then(() => read(key.message))',
        'Promise.resolve(certificate).then(() => read(key.message))',
      ),
    ],
    foundBy: DUCHIES_TEST,
  },
  {
    // With this bug, an exchange could present the certificate of one duchy as that of another.
    name: 'shared-root-vouches-for-anybody',
    edits: [
      {
        file: 'consent/src/trust/trust.ts',
        find: 'if (certificate.parties.length > 0 || issuers.some(isOfPartyAlone)) return;',
        replace: 'if (certificate.parties.length > 0 || known.some((root) => root.party === party)) return;',
      },
    ],
    foundBy: test('consent/src/trust/trust.test.ts', 'root of several parties'),
  },
  {
    name: 'duchy-not-in-settings',
    edits: [inProvider('verify/duchies.ts', 'if (!trusted.has(duchy)) {', 'if (false) {')],
    foundBy: DUCHIES_TEST,
  },
  {
    name: 'share-not-charged',
    edits: [
      inProvider(
        'compute.ts',
        'if (request.shareShuffle || request.liquidLegions) return computationCharge(request);',
        'if (request.shareShuffle) return { epsilon: 0n, delta: 0n, rho: 0n };\n  if (request.shareShuffle || request.liquidLegions) return computationCharge(request);',
      ),
    ],
    foundBy: shareTest('charges what the duchies release'),
  },
  {
    // With this bug, an exchange that shows a requisition again gets a second computation for one charge.
    name: 'lost-share-computed-again',
    edits: [
      inProvider(
        'agent/responder.ts',
        'const stored = ledger.response(name);',
        'const stored = ledger.response(name)?.upload ? undefined : ledger.response(name);',
      ),
    ],
    foundBy: shareTest('a requisition whose share is lost'),
  },
  {
    name: 'rejected-upload-sent-forever',
    edits: [inProvider('multiParty/rejections.ts', 'return count >= MAX_REJECTIONS;', 'return false;')],
    foundBy: uploadTest('is counted across restarts'),
  },
  {
    name: 'duchy-believed-without-exchange',
    edits: [
      inProvider(
        'multiParty/pendingUploads.ts',
        "if (state !== 'UNFULFILLED') return state; throw new Error(",
        "return 'FULFILLED'; throw new Error(",
      ),
    ],
    foundBy: uploadTest('does not report it to the exchange'),
  },
  {
    // With this bug, the exchange could replace a duchy's key with its own, and then decrypt without that duchy's
    // secret key.
    name: 'ring-key-not-verified',
    edits: [
      inProvider(
        'verify/duchies.ts',
        'verifySignature(key, certificate).then(() => read(key.message))',
        'Promise.resolve(certificate).then(() => read(key.message))',
      ),
    ],
    foundBy: RING_TEST,
  },
  {
    name: 'ring-hides-too-little',
    edits: [inProvider('verify/liquidLegions.ts', 'if (violation) {', 'if (violation === null) {')],
    foundBy: RING_TEST,
  },
  {
    name: 'sketch-not-charged',
    edits: [
      inProvider(
        'compute.ts',
        'if (request.shareShuffle || request.liquidLegions) return computationCharge(request);',
        'if (request.liquidLegions) return { epsilon: 0n, delta: 0n, rho: 0n };\n  if (request.shareShuffle || request.liquidLegions) return computationCharge(request);',
      ),
    ],
    foundBy: test('sdk/test/provider/liquidLegions.test.ts', 'charges what the aggregator sees'),
  },
  {
    // With this bug, the length of an upload reveals how many active registers a provider has.
    name: 'sketch-not-padded',
    edits: [
      inMpc(
        'sketches/encryptSketch.ts',
        'for (const places of this.batches(active.length)) {',
        'for (const all of this.batches(active.length)) { const places = all.filter((place) => active[place] === 1);',
      ),
    ],
    foundBy: test('mpc/src/sketches/encryptSketch.test.ts', 'contains only padding, as distinct ciphertexts'),
  },
];
