/**
 * Checks that the duchy has a root for each party that it computes with, and that this root issued the party's
 * certificate.
 */
import {
  type Computation,
  ExchangeError,
  MAX_PAGE_SIZE,
  PARTY_COLLECTIONS,
  PREFERRED,
  timestampOf,
} from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { type Finding, findingsOf } from './finding.ts';
import type { Subject } from './subject.ts';

const WEEK_MS = 7 * 24 * 3600_000;
/**
 * The maximum number of computations that the check reads from the last seven days. The limit keeps the check fast. The
 * check can miss a party that took part only in computations beyond this limit or before these seven days.
 */
const MAX_COMPUTATIONS = 2_000;

export interface RootsChecked {
  findings: Finding[];
  /** The other duchies whose root this duchy has, or that took part in computations of the last seven days. */
  duchies: string[];
}

/**
 * Checks every party that took part in computations of the last seven days, and every party whose root this duchy has.
 * If the duchy does not trust one of the parties in a computation, the computation fails.
 */
export async function checkRoots(subject: Subject, client: ExchangeClient): Promise<RootsChecked> {
  const { ok, warning, problem } = findingsOf('roots');
  const needed = await certificatesInUse(subject, client);
  const parties = [...new Set([...needed.keys(), ...subject.rooted])]
    .filter((party) => party !== subject.name)
    .sort();
  const findings: Finding[] = [];
  for (const party of parties) {
    const certificate = needed.get(party) ?? `${party}/certificates/${PREFERRED}`;
    const why = await rejection(subject, client, party, certificate);
    if (why === undefined) continue;
    // Only warn about a party that took part in no computation of the last seven days.
    findings.push(needed.has(party) ? problem(`${party}: ${why}`) : warning(`${party}: ${why}`));
  }
  const without = PARTY_COLLECTIONS.filter((kind) => !parties.some((party) => party.startsWith(`${kind}/`)));
  findings.push(
    ...without.map((kind) => warning(`None of ${kind}: get the root of each party from the party itself.`)),
  );
  if (findings.length === 0)
    findings.push(ok(`${parties.length} parties: each one's certificate is of its root.`));
  return { findings, duchies: parties.filter((party) => party.startsWith('duchies/')) };
}

async function rejection(
  { trust }: Subject,
  client: ExchangeClient,
  party: string,
  name: string,
): Promise<string | undefined> {
  try {
    const { x509Der } = await client.getCertificate({ name });
    await trust.verify(party, x509Der, new Date());
    return undefined;
  } catch (error) {
    if (!(error instanceof ExchangeError)) return (error as Error).message;
    return `The exchange shows no certificate of it (${error.reason}): is that its name?`;
  }
}

/** Maps each party in the computations of the last seven days to the name of its certificate. */
async function certificatesInUse(
  { name: parent }: Subject,
  client: ExchangeClient,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const since = timestampOf(Date.now() - WEEK_MS);
  let count = 0;
  const listing = client.listComputations({ parent, 'filter.updatedAfter': since, pageSize: MAX_PAGE_SIZE });
  for await (const computation of listing) {
    for (const [party, certificate] of certificatesOf(computation)) found.set(party, certificate);
    count += 1;
    if (count === MAX_COMPUTATIONS) break;
  }
  return found;
}

function certificatesOf(computation: Computation): [string, string][] {
  const { measurementConsumer, measurementConsumerCertificate, participants, requisitions } = computation;
  return [
    [measurementConsumer, measurementConsumerCertificate],
    ...requisitions.map((each): [string, string] => [each.dataProvider, each.dataProviderCertificate]),
    ...Object.entries(participants).map(([duchy, { certificate }]): [string, string] => [
      duchy,
      certificate ?? `${duchy}/certificates/${PREFERRED}`,
    ]),
  ];
}
