/** Checks the duchies in the `protocols` setting, and configures the demo duchies of development mode. */
import type { Queryable } from '../database/db.ts';
import { getParties } from '../database/parties.ts';
import { DUCHIES } from '../dev/duchies.ts';
import { duchiesOf, optionsOf, type Protocols } from '../domain/protocolOptions.ts';
import { type Config, ConfigError } from './config.ts';
import { at, LIQUID_LEGIONS_DEFAULTS, REACH_ONLY_DEFAULTS, SHARE_SHUFFLE_DEFAULTS } from './protocols.ts';

/**
 * Throws if a configured duchy does not exist or has no endpoint. Call this before the exchange serves the first API
 * request, so that no measurement is assigned to such a duchy. In development mode, the server is already listening,
 * but requests with a token fail until this check is done.
 */
export async function requireDuchies(db: Queryable, protocols: Protocols): Promise<void> {
  const options = optionsOf(protocols);
  if (options.length === 0) return;
  const parties = await getParties(db, [...new Set(options.flatMap(duchiesOf))]);
  const problems = options.flatMap((option) =>
    duchiesOf(option).flatMap((duchy) => {
      const party = parties.get(duchy);
      if (party === undefined)
        return [`${at(option)}: ${duchy} does not exist. Register it: mex admin onboard.`];
      if (party.endpoint !== undefined) return [];
      return [
        `${at(option)}: ${duchy} has no endpoint. Set it: mex admin parties update ${duchy} --endpoint <url>.`,
      ];
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
}

/**
 * Returns the protocols that the demo duchies run. Returns undefined in production mode, if demo duchies are disabled,
 * or if `protocols` names only other duchies.
 */
export function demoProtocols({ mode, demoDuchies, protocols }: Config): Protocols | undefined {
  if (mode !== 'development' || !demoDuchies) return undefined;
  const named = optionsOf(protocols).flatMap(duchiesOf);
  if (named.length > 0) return named.some(isDemoDuchy) ? protocols : undefined;
  const [firstWorker, secondWorker, aggregator] = DUCHIES.map(({ name }) => name) as [string, string, string];
  const ring = { workers: [firstWorker, secondWorker], aggregator };
  return {
    honestMajorityShareShuffle: { firstWorker, secondWorker, aggregator, ...SHARE_SHUFFLE_DEFAULTS },
    reachOnlyLiquidLegionsV2: { ...ring, ...REACH_ONLY_DEFAULTS, ...DEMO_SKETCH },
    liquidLegionsV2: { ...ring, ...LIQUID_LEGIONS_DEFAULTS, ...DEMO_SKETCH },
  };
}

/**
 * Demo sketches are small and get few noise registers, so that a computation takes seconds. The error in reach is
 * about 10%.
 */
const HIDING = { epsilon: 1, delta: 1e-9 };
const DEMO_SKETCH = {
  ...{ decayRate: 10, maxSize: 1000 },
  ...{ histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};

export function demoDuchies(config: Config): string[] {
  return demoProtocols(config) === undefined ? [] : DUCHIES.map(({ name }) => name);
}

function isDemoDuchy(duchy: string): boolean {
  return DUCHIES.some(({ name }) => name === duchy);
}
