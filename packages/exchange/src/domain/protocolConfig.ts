/** A measurement's protocol configuration, as it is stored and as parties read it. */
import {
  fromBase64,
  type LiquidLegionsConfig,
  type MeasurementType,
  type Protocol,
  type ProtocolConfig,
  type ShareShuffleConfig,
} from '@measurement-exchange/contract';

/** The stored form has the population's fingerprint as base64. */
export type StoredShareShuffleConfig = Omit<ShareShuffleConfig, 'populationFingerprint'> & {
  populationFingerprint: string;
};
export type StoredProtocolConfig = StoredShareShuffleConfig | LiquidLegionsConfig;

interface Stored {
  measurementType: MeasurementType | undefined;
  protocol: Protocol;
  protocolConfig: StoredProtocolConfig | undefined;
}

export function viewProtocol({ measurementType, protocol, protocolConfig: config }: Stored): ProtocolConfig {
  if (config === undefined) return { measurementType, direct: {} };
  if (!('populationFingerprint' in config)) return { measurementType, [protocol]: config };
  const populationFingerprint = fromBase64(config.populationFingerprint)!;
  return { measurementType, [protocol]: { ...config, populationFingerprint } };
}
