/**
 * Describes the duchy to check: its settings, its certificate, the roots it trusts, and its connection to the exchange.
 */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { DuchyConfig } from '@measurement-exchange/duchy';
import type { ExchangeClient, TrustStore } from '@measurement-exchange/sdk';
import { given } from '../../calls/command.ts';
import { connect } from '../../connection/client.ts';
import {
  createDemoTrustStore,
  createRereadTrustStore,
  readDevRoots,
  readRoots,
} from '../../connection/roots.ts';
import { findDevParty, readOwnDevFile } from '../../files/devFile.ts';
import { readPartyFile } from '../../files/partyFile.ts';

export interface Subject {
  name: string;
  config: DuchyConfig;
  /** Undefined for a demo duchy: its certificate needs no check, because the exchange itself created it. */
  certificate: X509Certificate | undefined;
  /** Connects to the exchange as this duchy. Throws if the address of the exchange is missing. */
  connect(): Promise<ExchangeClient>;
  trust: TrustStore;
  /** The names of the parties whose root certificates this duchy trusts. */
  rooted: string[];
  /** The duchies that the development exchange on this machine starts. */
  demoDuchies: string[];
}

export async function subjectOf(config: DuchyConfig, as: string | undefined): Promise<Subject | undefined> {
  const onProblem = () => {};
  if (as !== undefined) {
    const dev = await readOwnDevFile();
    const { name } = findDevParty(dev, as);
    const parties = [...dev.measurementConsumers, ...dev.dataProviders, ...dev.duchies].map(
      (party) => party.name,
    );
    return {
      ...{ name, config, certificate: undefined },
      connect: () => connect({ as }),
      trust: createDemoTrustStore(dev.rootCertificatePem, [], onProblem),
      rooted: [...parties, ...partiesOf(await readDevRoots())],
      demoDuchies: dev.duchies.map((party) => party.name),
    };
  }
  const { url, tokenFile, signIn, identity, roots } = config;
  const party = identity && (await readPartyFile(join(identity, 'party.json')).catch(() => undefined));
  if (!party) return undefined;
  const dev = config.mode === 'development' ? await readOwnDevFile().catch(() => undefined) : undefined;
  return {
    ...{ name: party.name, config, certificate: new X509Certificate(party.certificatePem) },
    connect: () => connect(given({ url, tokenFile, signIn })),
    trust: createRereadTrustStore(async () => roots, { onProblem }),
    rooted: partiesOf((await readRoots(roots)).roots),
    demoDuchies: dev?.duchies.map((duchy) => duchy.name) ?? [],
  };
}

function partiesOf(roots: { party?: string }[]): string[] {
  return roots.flatMap(({ party }) => party ?? []);
}
