import {
  array,
  boolean,
  enumOf,
  nameOf,
  object,
  optional,
  type Static,
  text,
  timestamp,
} from '../json/schema.ts';
import { Finding, SignedMessage } from './common.ts';

export const PARTY_STATES = ['ACTIVE', 'SUSPENDED'] as const;
export type PartyState = (typeof PARTY_STATES)[number];

/** `endTime` absent: open. */
export const Interval = object({ startTime: timestamp(), endTime: optional(timestamp()) });
export type Interval = Static<typeof Interval>;

export const Capabilities = object(
  {
    honestMajorityShareShuffleSupported: optional(boolean()),
    reachOnlyLiquidLegionsV2Supported: optional(boolean()),
    liquidLegionsV2Supported: optional(boolean()),
  },
  'Multi-party protocols the data provider can take part in.',
);
export type Capabilities = Static<typeof Capabilities>;

/** What a party or the operator may set; in an update the fields present are replaced. */
const input = {
  displayName: optional(text(255)),
  publicKey: optional(SignedMessage),
};
const dataProviderInput = {
  ...input,
  capabilities: optional(Capabilities),
  dataAvailabilityInterval: optional(Interval),
};

const duchyInput = {
  ...input,
  endpoint: optional(
    text(1000),
    'Absolute URL, without a path, where data providers and other duchies reach the duchy.',
  ),
};

const output = {
  state: enumOf(PARTY_STATES),
  createTime: optional(timestamp()),
  updateTime: optional(timestamp()),
  findings: optional(array(Finding)),
};

export const PartyInput = object(input);
export const DataProviderInput = object(dataProviderInput);
export const DuchyInput = object(duchyInput);
export type PartyInput = Static<typeof DataProviderInput> & Static<typeof DuchyInput>;

export const MeasurementConsumer = object({
  name: optional(nameOf('measurementConsumer')),
  ...input,
  certificate: optional(nameOf('measurementConsumerCertificate')),
  ...output,
});
export type MeasurementConsumer = Static<typeof MeasurementConsumer>;

export const DataProvider = object({
  name: optional(nameOf('dataProvider')),
  ...dataProviderInput,
  certificate: optional(nameOf('dataProviderCertificate')),
  ...output,
});
export type DataProvider = Static<typeof DataProvider>;

export const Duchy = object({
  name: optional(nameOf('duchy')),
  ...duchyInput,
  certificate: optional(nameOf('duchyCertificate')),
  ...output,
});
export type Duchy = Static<typeof Duchy>;
