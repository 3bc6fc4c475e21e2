/** Planted bugs in populations, endpoints of duchies, and the choice of the protocol. */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const populationsTest = (name: string) => test('exchange/test/populations/populations.test.ts', name);
const protocolTest = (name: string) => test('exchange/test/populations/protocol.test.ts', name);
const DOMAIN_TEST = test('exchange/src/domain/protocol.test.ts');

export const POPULATION_BUGS: PlantedBug[] = [
  {
    name: 'populations-change-at-once',
    edits: [inExchange('database/populations.ts', 'tx.query(LOCK, []),', 'undefined,')],
    foundBy: populationsTest('is unique after 10 concurrent requests'),
  },
  {
    name: 'former-default-not-audited',
    edits: [
      inExchange(
        'operations/populations/takeDefault.ts',
        'versions: [{ name: populationName(former.id), version: former.version, time: former.updateTime }],',
        'versions: [],',
      ),
    ],
    foundBy: populationsTest('is unique after 10 concurrent requests'),
  },
  {
    name: 'model-line-of-two-populations',
    edits: [
      inExchange(
        'database/populations.ts',
        'WHERE l.model_line = ANY($1) AND l.population <> $2',
        'WHERE l.model_line = ANY($1) AND l.population = $2',
      ),
    ],
    foundBy: populationsTest('belongs to at most one population'),
  },
  {
    name: 'other-ranges-ignored',
    edits: [inExchange('domain/population.ts', "violations.push({ field: 'vidRanges', description });", '')],
    foundBy: populationsTest('is updated field by field'),
  },
  {
    name: 'ranges-share-a-vid',
    edits: [inExchange('domain/vidRanges.ts', 'if (start <= reached)', 'if (start < reached)')],
    foundBy: test('exchange/src/domain/population.test.ts'),
  },
  {
    name: 'fingerprint-of-the-order',
    edits: [
      {
        file: 'contract/src/codecs/vidRanges.ts',
        find: 'ranges.toSorted((a, b) => a.start - b.start)',
        replace: 'ranges',
      },
    ],
    foundBy: test('contract/src/codecs/vidRanges.test.ts'),
  },
  {
    name: 'unknown-model-line-is-the-default',
    edits: [inExchange('database/populations.ts', 'p.is_default AND $1::text IS NULL`', 'p.is_default`')],
    foundBy: protocolTest('uses the population of its model line'),
  },
  {
    name: 'ring-one-too-small',
    edits: [
      inExchange(
        'domain/shareShuffle.ts',
        'maximumFrequency * providers + 1 < modulus',
        'maximumFrequency * providers + 1 <= modulus',
      ),
    ],
    foundBy: DOMAIN_TEST,
  },
  {
    name: 'share-shuffle-without-delta',
    edits: [inExchange('domain/protocolReasons.ts', '...(delta > 0 ?', '...(delta >= 0 ?')],
    foundBy: DOMAIN_TEST,
  },
  {
    name: 'share-shuffle-of-nobody',
    edits: [inExchange('domain/shareShuffle.ts', 'if (sample === 0) {', 'if (sample < 0) {')],
    foundBy: protocolTest('is direct if duchies would reject its spec'),
  },
  {
    name: 'share-shuffle-unsigned',
    edits: [inExchange('domain/protocol.ts', 'if (!isSpecSigned) {', 'if (false) {')],
    foundBy: protocolTest('is direct if duchies would reject its spec'),
  },
  {
    name: 'one-provider-supports-it-for-all',
    edits: [
      inExchange(
        'domain/protocol.ts',
        'if (parties.get(name)!.protocols.includes(option.protocol)) continue;',
        'if (providers.some((one) => parties.get(one)!.protocols.includes(option.protocol))) continue;',
      ),
    ],
    foundBy: protocolTest('is direct if a provider does not support the protocol'),
  },
  {
    name: 'suspended-duchy-takes-part',
    edits: [
      inExchange('domain/protocol.ts', "if (parties.get(name)?.state === 'ACTIVE') continue;", 'continue;'),
    ],
    foundBy: protocolTest('is direct while a duchy is suspended'),
  },
  {
    name: 'starts-without-its-duchies',
    edits: [
      inExchange('main.ts', 'if (production) await requireDuchies(db, protocols);', ''),
      inExchange('main.ts', 'await requireDuchies(db, protocols);', ''),
    ],
    foundBy: protocolTest('with duchies that do not exist'),
  },
];
