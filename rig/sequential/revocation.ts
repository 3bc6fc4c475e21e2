/** Revokes a certificate. The measurement that depends on it must fail within 10 s. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import type fc from 'fast-check';
import { Violations } from '../harness.ts';
import { createPath, draft } from '../measurement.ts';
import { apply, type Input, revoked } from '../model.ts';
import { Random } from '../random.ts';
import {
  ask,
  type Choice,
  type Command,
  expect,
  freshId,
  type Known,
  know,
  type Real,
  responseOf,
} from './steps.ts';

const CASCADE_MS = 10_000;

export function revoking(choice: fc.Arbitrary<Choice>): fc.Arbitrary<Command> {
  return choice.map(({ nth, at }) => ({
    check: () => true,
    toString: () => `revoke a certificate at ${at}`,
    async run(model, real) {
      const made = { ...draft(real.world, new Random(nth)), requestId: freshId() };
      const consumer = made.consumer.name;
      const certificate = await newCertificate(real, at, consumer);
      made.body = { ...made.body, measurementConsumerCertificate: certificate };
      const response = await ask(real, at, consumer, 'POST', createPath(made), made.body);
      expect('create on a new certificate', response.reason, 'OK');
      const known = await know(real, at + 1, made, response);
      model.known.push(known);
      await fulfillFirst(known, real, at);
      const body = { revocationState: 'REVOKED' };
      const done = await ask(real, at, consumer, 'POST', `${certificate}:revoke`, body);
      expect('revoke', done.reason, 'OK');
      known.state = revoked(known.state);
      await untilFailed(known, real, at);
      const again = await ask(real, at, consumer, 'POST', `${consumer}/measurements`, made.body);
      expect('create on a revoked certificate', again.reason, 'CERTIFICATE_IS_INVALID');
    },
  }));
}

let root: ReturnType<typeof createRoot> | undefined;

async function newCertificate(real: Real, at: number, party: string): Promise<string> {
  root ??= createRoot('Root of the rig', Date.now());
  const { der } = await issueLeaf(await root, 'Certificate of the rig', Date.now());
  const x509Der = Buffer.from(der).toString('base64');
  const response = await ask(real, at, party, 'POST', `${party}/certificates`, { x509Der });
  expect('a new certificate', response.reason, 'OK');
  return response.json.name;
}

/** Fulfills the first requisition, which must stay fulfilled when the measurement fails. */
async function fulfillFirst(known: Known, real: Real, at: number): Promise<void> {
  if (known.state.requisitions.length === 1) return;
  const input: Input = { kind: 'fulfill', i: 0, etag: 1, nonce: 'right', certificate: 'own' };
  const [next, expected] = apply(known.state, input);
  const response = responseOf(real, await known.subject.send(real.world, at, input));
  expect('fulfill', known.subject.read(input, response, new Violations()), expected);
  known.state = next;
}

async function untilFailed({ subject, state }: Known, real: Real, at: number): Promise<void> {
  const input: Input = { kind: 'listRequisitions' };
  const [, expected] = apply(state, input);
  for (const deadline = Date.now() + CASCADE_MS; ; await sleep(20)) {
    const response = responseOf(real, await subject.send(real.world, at, input));
    const seen = subject.read(input, response, new Violations());
    if (seen === expected) return;
    if (Date.now() > deadline) expect('10 s after the revocation', seen, expected);
  }
}
