/** Decides what needs a party's attention: failures, long waits, its certificate, and its webhooks. */
import {
  ATTENTION_CODES,
  type Attention,
  type AttentionCode,
  type Timestamp,
} from '@measurement-exchange/contract';
import { measurementName } from './aggregate.ts';
import { type Certificate, certificateName, EXPIRING_DAYS, whyUnusable } from './certificate.ts';
import { type Facts, requisitionName, shortTime } from './explain/facts.ts';
import { explainMeasurement, explainRequisition } from './explain/index.ts';
import { SILENT_AFTER_MS } from './explain/waits.ts';
import { computationName } from './participants.ts';
import { hoursBefore } from './time.ts';
import { type WebhookHealth, webhookName } from './webhook.ts';

const USUAL_AT_FIRST = new Set(['PARAMETERS_MISSING', 'UPLOAD_MISSING', 'CONFIRMATION_MISSING']);
/**
 * The code of a measurement that ended because a provider refused a requisition. Duchies do not see this code, because
 * they can do nothing about a refusal. The consumer and the provider see the code.
 */
const NOT_FOR_DUCHIES = 'REFUSED';

export function workAttention(facts: Facts, party: string): Attention | undefined {
  const { viewer, aggregate, now } = facts;
  const explanation = viewer === 'dataProvider' ? explainRequisition(facts) : explainMeasurement(facts);
  const { ending, since, waitingFor, risks, nextDeadline: deadline } = explanation;
  const name = nameOf(facts, party);
  if (ending !== undefined) {
    const { code, detail, remedy } = ending;
    if (!isAttention(code) || (viewer === 'duchy' && code === NOT_FOR_DUCHIES)) return undefined;
    return { code, name, time: since, detail, remedy };
  }
  for (const { code, party: late, since: time, detail, remedy } of waitingFor) {
    const isUsual = USUAL_AT_FIRST.has(code) && Date.parse(now) - Date.parse(time) < SILENT_AFTER_MS;
    if (!isAttention(code) || isUsual) continue;
    const deferral = aggregate.requisitions.find(({ provider }) => provider === late)?.deferral;
    const until = code === 'DEFERRED' ? deferral?.until : undefined;
    return { code, name, party: late, time, until, deadline, detail, remedy };
  }
  const near = risks.find(({ code }) => code === 'DEADLINE_NEAR');
  const [wait] = waitingFor;
  if (near === undefined || wait === undefined) return undefined;
  const { party: late, detail, remedy } = wait;
  return { code: 'DEADLINE_NEAR', name, party: late, time: since, deadline, detail, remedy };
}

function isAttention(code: string): code is AttentionCode {
  return (ATTENTION_CODES as readonly string[]).includes(code);
}

function nameOf(facts: Facts, party: string): string {
  const { viewer, aggregate } = facts;
  if (viewer === 'dataProvider') return requisitionName(facts, aggregate.requisitions[0]!);
  return viewer === 'duchy'
    ? computationName(party, aggregate.measurement.id)
    : measurementName(aggregate.measurement);
}

/**
 * Returns a certificate's problem, or undefined if there is no problem. `certificate` is the party's preferred
 * certificate, or undefined if the party has no certificate.
 */
export function certificateAttention(
  party: string,
  certificate: Certificate | undefined,
  now: Timestamp,
): Attention | undefined {
  const remedy = 'Register another certificate (mex certificates create).';
  if (certificate === undefined) {
    const detail = `${party} has no certificate, so nobody can verify what it signs.`;
    return { code: 'CERTIFICATE_MISSING', name: party, time: now, detail, remedy };
  }
  const { notAfter: until } = certificate;
  const name = certificateName(party, certificate.id);
  const why = whyUnusable(certificate, now);
  if (why !== undefined) {
    const detail = `${name} ${why}, and ${party} has no other certificate that can be used.`;
    return now > until
      ? { code: 'CERTIFICATE_EXPIRED', name, time: until, until, detail, remedy }
      : { code: 'CERTIFICATE_MISSING', name, time: now, detail, remedy };
  }
  const time = hoursBefore(until, EXPIRING_DAYS * 24);
  if (time > now) return undefined;
  const detail = `${name} expires on ${shortTime(until)}, and ${party} has none that lasts longer.`;
  return { code: 'CERTIFICATE_EXPIRES', name, time, until, detail, remedy };
}

export function webhookAttention(webhook: WebhookHealth): Attention | undefined {
  const { party, id, state, pauseReason, updateTime, failingSince } = webhook;
  const name = webhookName(party, id);
  if (state === 'PAUSED') {
    const remedy =
      'Mend its endpoint, then resume it (mex webhooks resume); what is still in the log is sent then.';
    return { code: 'WEBHOOK_PAUSED', name, time: updateTime, detail: pauseReason ?? 'It is paused.', remedy };
  }
  if (failingSince === null) return undefined;
  const detail = `Deliveries to it have failed since ${shortTime(failingSince)}, and are tried again.`;
  const remedy = 'Look at its deliveries (mex webhooks deliveries), and mend its endpoint.';
  return { code: 'WEBHOOK_FAILING', name, time: failingSince, detail, remedy };
}
