/**
 * Checks that the exchange accepts the duchy's token, and that the duchy's certificate and endpoint are registered
 * there.
 */
import type { Certificate, Duchy } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk';
import { explained } from '../../connection/client.ts';
import { requireAnswer } from './answer.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Subject } from './subject.ts';

export interface ExchangeChecked {
  findings: Finding[];
  /** Undefined if the exchange is unreachable or does not accept the token as this duchy's token. */
  client?: ExchangeClient;
}

export async function checkExchange(subject: Subject): Promise<ExchangeChecked> {
  const { ok, problem } = findingsOf('exchange');
  try {
    const client = await subject.connect();
    const { principal } = await client.whoAmI();
    if (principal !== subject.name) {
      const message = `The token is of ${principal}, not of ${subject.name}: give the token of the duchy.`;
      return { findings: [problem(message)] };
    }
    const party = (await client.getParty({ name: subject.name })) as Duchy;
    const findings = [
      ok(`It answers, and takes the token of ${subject.name}.`),
      await certificateFinding(subject, client),
      ...(await endpointFindings(subject, party)),
    ];
    return { findings, client };
  } catch (error) {
    return { findings: [problem((explained(error) as Error).message)] };
  }
}

const SOON_MS = 30 * 24 * 3600_000;

async function certificateFinding(
  { name, certificate: own }: Subject,
  client: ExchangeClient,
): Promise<Finding> {
  const { ok, warning, problem } = findingsOf('certificate');
  if (own === undefined) return ok('The exchange made it.');
  const registered = await findRegistered(client, name, own.raw);
  if (registered === undefined) {
    return problem(
      `The exchange does not know the certificate of ${name}. Its operator registers it: mex admin onboard party.json; ` +
        `after a renewal you do: mex admin certificates add ${name} certificate.pem`,
    );
  }
  const until = own.validToDate.toISOString().slice(0, 10);
  const renewal = `Renew it: mex identity ${name} --renew …`;
  if (registered.revocationState !== undefined) {
    return problem(`${registered.name} is ${registered.revocationState}. ${renewal}`);
  }
  if (own.validToDate.getTime() < Date.now()) return problem(`It expired on ${until}. ${renewal}`);
  if (own.validToDate.getTime() < Date.now() + SOON_MS) return warning(`It expires on ${until}. ${renewal}`);
  return ok(`The exchange knows it as ${registered.name}, valid until ${until}.`);
}

async function findRegistered(
  client: ExchangeClient,
  parent: string,
  own: Uint8Array,
): Promise<Certificate | undefined> {
  for await (const certificate of client.listCertificates({ parent })) {
    if (Buffer.from(certificate.x509Der).equals(own)) return certificate;
  }
  return undefined;
}

/**
 * Compares the endpoint that is registered at the exchange with the endpoint in the settings. If they are the same, or
 * if the settings have no endpoint, also checks that the duchy responds at the registered endpoint.
 */
async function endpointFindings(subject: Subject, { endpoint }: Duchy): Promise<Finding[]> {
  const { name, config } = subject;
  const { ok, warning, problem } = findingsOf('endpoint');
  if (endpoint === undefined) {
    return [
      problem(
        `The exchange names none for ${name}. Its operator sets it: mex admin parties update ${name} --endpoint <url>`,
      ),
    ];
  }
  const own = config.endpoint === undefined ? undefined : URL.parse(config.endpoint)?.origin;
  if (own !== undefined && own !== endpoint) {
    return [problem(`The exchange names ${endpoint}, and the settings name ${own}: keep both the same.`)];
  }
  return requireAnswer(subject, name, { url: new URL(endpoint), lookup: undefined }).then(
    () => [ok(`The duchy answers at ${endpoint}.`)],
    ({ message }: Error) => [
      warning(`Nothing answers at ${endpoint} (${message}): start it with mex duchy run.`),
    ],
  );
}
