import * as s from '../json/schema.ts';
import { certificateName, SignedMessage, written } from './common.ts';

export const PARTY_STATES = ['ACTIVE', 'SUSPENDED'] as const;
export type PartyState = (typeof PARTY_STATES)[number];

/** An interval without `endTime` is open-ended. */
export const Interval = s.object({ startTime: s.timestamp(), endTime: s.optional(s.timestamp()) });
export type Interval = s.Static<typeof Interval>;

export const Capabilities = s.object(
  {
    honestMajorityShareShuffleSupported: s.optional(s.boolean()),
    reachOnlyLiquidLegionsV2Supported: s.optional(s.boolean()),
    liquidLegionsV2Supported: s.optional(s.boolean()),
    trusTeeSupported: s.optional(s.boolean()),
    noiseMechanismNoneSupported: s.optional(s.boolean()),
    noiseMechanismDeterministicTruncatedLaplaceSupported: s.optional(s.boolean()),
  },
  'Multi-party protocols the data provider can take part in, and noise it can add. The exchange computes no TrusTEE.',
);
export type Capabilities = s.Static<typeof Capabilities>;

/** The fields that a party or the operator may set. An update replaces only the fields that it contains. */
const input = {
  displayName: s.optional(s.text(255)),
  publicKey: s.optional(SignedMessage),
};
/**
 * Fields that only requests contain. Responses have the field `certificate` instead: the certificate that verifies
 * `publicKey`, or the preferred certificate if the exchange knows no such certificate. A caller may send `certificate`
 * back, but it has no effect in a request.
 */
const inputOnly = {
  publicKeyCertificate: s.optional(
    certificateName,
    'The certificate of the party that verifies `publicKey`. Absent: the exchange finds one.',
  ),
};
const dataProviderInput = {
  ...input,
  capabilities: s.optional(Capabilities),
  dataAvailabilityInterval: s.optional(Interval),
  dataAvailabilityIntervals: s.optional(
    s.array(s.object({ modelLine: s.text(255, 1), interval: Interval }), {
      maxItems: 50,
      description:
        'For model lines whose data is available at other times than dataAvailabilityInterval says.',
    }),
  ),
};

const duchyInput = {
  ...input,
  endpoint: s.optional(
    s.text(1000),
    'Absolute URL, without a path, where data providers and other duchies reach the duchy.',
  ),
};

export const PartyInput = s.object({ ...input, ...inputOnly });
export const DataProviderInput = s.object({ ...dataProviderInput, ...inputOnly });
export const DuchyInput = s.object({ ...duchyInput, ...inputOnly });
export type PartyInput = s.Static<typeof DataProviderInput> & s.Static<typeof DuchyInput>;

const party = <P extends Record<string, s.TSchema>>(
  kind: 'measurementConsumer' | 'dataProvider' | 'duchy',
  fields: P,
) =>
  s.object({
    name: s.optional(s.nameOf(kind)),
    ...fields,
    certificate: s.optional(s.nameOf(`${kind}Certificate`)),
    state: s.enumOf(PARTY_STATES),
    ...written,
  });

export const MeasurementConsumer = party('measurementConsumer', input);
export type MeasurementConsumer = s.Static<typeof MeasurementConsumer>;

export const DataProvider = party('dataProvider', dataProviderInput);
export type DataProvider = s.Static<typeof DataProvider>;

export const Duchy = party('duchy', duchyInput);
export type Duchy = s.Static<typeof Duchy>;
