/**
 * Lists the parties that a pending measurement waits for, the action that each party must take, and why the party has
 * not acted.
 */
import { type Timestamp, WAIT_CODES, type Wait, type WaitCode } from '@measurement-exchange/contract';
import { type Certificate, certificateName } from '../certificate.ts';
import { behind, openSteps } from '../deadlines.ts';
import { computationName, computationState, unconfirmed } from '../participants.ts';
import { halfMinuteOf } from '../time.ts';
import {
  type Facts,
  hasChangedKey,
  inWords,
  isPresent,
  isSuspended,
  type RequisitionWithKey,
  requisitionName,
  shortTime,
  type WordedReport,
} from './facts.ts';

/**
 * A party is late if it has not acted within this time. The limit is high, because a data provider's agent may have to
 * scan a lot of data.
 */
export const SILENT_AFTER_MS = 10 * 60_000;

const FAILING_ATTEMPTS = 3;

interface Task {
  party: string;
  resource: string | undefined;
  since: Timestamp;
  code: WaitCode;
  /** Words that follow the party's name and describe the missing action, such as `has not set its parameters`. */
  owes: string;
  remedy: string;
}

/** Returns a `Wait` for each action that a pending measurement waits for. The most severe wait comes first. */
export function waitsOf(facts: Facts): Wait[] {
  const revoked = certificatesOf(facts).filter(({ revocationState }) => revocationState !== undefined);
  // If a certificate is revoked or on hold, list only such certificates. The measurement will fail because of them, so
  // no other wait matters.
  if (revoked.length > 0) return revoked.map((certificate) => revocationWait(facts, certificate));
  const expired = certificatesOf(facts)
    .filter(({ notAfter }) => facts.now > notAfter)
    .map((certificate) => expiredWait(facts, certificate));
  const others = tasksOf(facts).filter(({ party }) => !expired.some((wait) => wait.party === party));
  return [...expired, ...others].sort((a, b) => WAIT_CODES.indexOf(a.code) - WAIT_CODES.indexOf(b.code));
}

export function certificatesOf({ aggregate, certificates }: Facts): Certificate[] {
  const { measurement: m, requisitions, participants } = aggregate;
  const named = [
    { party: m.consumer, id: m.certificate },
    ...requisitions.map(({ provider: party, state, certificate, fulfillment }) => ({
      party,
      id: state === 'UNFULFILLED' ? certificate : fulfillment?.result?.certificate,
    })),
    ...participants.map(({ duchy: party, parameters }) => ({ party, id: parameters?.certificate })),
  ];
  return named.flatMap(({ party, id = '' }) => certificates.get(certificateName(party, id)) ?? []);
}

function tasksOf(facts: Facts): Wait[] {
  const { aggregate } = facts;
  const { measurement, requisitions, participants } = aggregate;
  switch (computationState(aggregate)) {
    case 'PENDING_PARAMS':
      return participants
        .filter((p) => p.parameters === undefined)
        .map(({ duchy }) => {
          const owes = 'has not set its parameters';
          return duchyTask(facts, duchy, measurement.createTime, 'PARAMETERS_MISSING', owes);
        });
    case 'PENDING_FULFILLMENT':
      return requisitions.filter((r) => r.state === 'UNFULFILLED').map((r) => requisitionTask(facts, r));
    case 'PENDING_CONFIRMATION':
      return unconfirmed(aggregate).map((duchy) => {
        const owes = 'has not confirmed that it has all data';
        return duchyTask(facts, duchy, measurement.updateTime, 'CONFIRMATION_MISSING', owes);
      });
    default: {
      const late = behind(aggregate, [...facts.reports]);
      return [...goneTasks(facts, late), ...late.map((duchy) => stageTask(facts, duchy))];
    }
  }
}

/**
 * Returns a wait for each offline duchy that still has stages to compute and is not in `late`. An offline duchy blocks
 * the computation, because it cannot receive the output of other duchies.
 */
function goneTasks(facts: Facts, late: string[]) {
  return openSteps(facts.aggregate, [...facts.reports])
    .filter(({ duchy }) => !late.includes(duchy) && !isPresent(facts, duchy))
    .map(({ duchy }) => {
      const owes = 'has stages left to compute, and takes what the other duchies send';
      return duchyTask(facts, duchy, stageSince(facts, duchy), 'STAGE_RUNNING', owes);
    });
}

function stageSince({ reports, aggregate }: Facts, duchy: string): Timestamp {
  const report = reports.find((r) => r.duchy === duchy);
  return report?.time ?? aggregate.participants.find((p) => p.duchy === duchy)!.updateTime;
}

function duchyTask(facts: Facts, duchy: string, since: Timestamp, code: WaitCode, owes: string): Wait {
  const remedy = `It does this by itself while it runs; if it continues, ask the operator of ${duchy} to look into its log.`;
  return taskOf(facts, { party: duchy, resource: computationOf(facts, duchy), since, code, owes, remedy });
}

function stageTask(facts: Facts, duchy: string): Wait {
  const report = facts.reports.find((r) => r.duchy === duchy);
  const since = stageSince(facts, duchy);
  if (report === undefined) {
    const owes = 'has to compute its first stage, and reported nothing yet';
    return duchyTask(facts, duchy, since, 'STAGE_RUNNING', owes);
  }
  const isFailing = report.attempt >= FAILING_ATTEMPTS && report.progress !== 1;
  const words = reportWords(facts, report);
  if (!isFailing) return duchyTask(facts, duchy, since, 'STAGE_RUNNING', `computes ${words}`);
  return taskOf(facts, {
    party: duchy,
    resource: computationOf(facts, duchy),
    since,
    code: 'STAGE_FAILING',
    owes: `fails again and again in ${words}`,
    remedy: `Only the operator of ${duchy} can fix this: send them the name of the computation and the report.`,
  });
}

/**
 * Describes a progress report. Includes the message only if the viewer is the consumer, because no other party is
 * allowed to read the message.
 */
function reportWords({ viewer }: Facts, { stage, attempt, message }: WordedReport): string {
  const words = `${stage}, attempt ${attempt}`;
  return viewer === 'measurementConsumer' ? `${words} (“${message}”)` : words;
}

/**
 * Returns the computation's name. Returns undefined for a data provider, because data providers are not allowed to see
 * the name.
 */
function computationOf({ viewer, aggregate }: Facts, duchy: string): string | undefined {
  return viewer === 'dataProvider' ? undefined : computationName(duchy, aggregate.measurement.id);
}

function requisitionTask(facts: Facts, requisition: RequisitionWithKey): Wait {
  const { provider, fulfillingDuchy: duchy, updateTime: since } = requisition;
  const resource = requisitionName(facts, requisition);
  if (duchy !== undefined && (isSuspended(facts, duchy) || !isPresent(facts, duchy))) {
    return duchyTask(facts, duchy, since, 'UPLOAD_MISSING', `takes the data of ${provider}`);
  }
  const { deferral } = requisition;
  if (deferral !== undefined && deferral.until > facts.now && !isSuspended(facts, provider)) {
    return deferredTask(facts, requisition, deferral, resource);
  }
  const isOwn = facts.viewer === 'dataProvider';
  if (hasChangedKey(facts, requisition) && !isSuspended(facts, provider)) {
    return {
      ...about(facts, provider, resource, since),
      code: 'KEY_CHANGED',
      detail: `${resource} is encrypted for a key that ${provider} does not publish any more${seen(facts, provider)}.`,
      remedy: isOwn
        ? 'Decrypt it with your former key (earlierKeys of the agent), or refuse it with CONSENT_SIGNAL_INVALID.'
        : 'If the provider no longer has the former key, cancel the measurement and create it again with the current one.',
    };
  }
  const isLate = Date.parse(facts.now) - Date.parse(since) >= SILENT_AFTER_MS;
  const remedy = isLate
    ? `Ask ${provider} why its agent does not respond, or cancel the measurement.`
    : `Wait: its agent runs, and has ${inWords(SILENT_AFTER_MS)} before it counts as silent.`;
  return taskOf(facts, {
    party: provider,
    resource,
    since,
    ...(duchy === undefined
      ? {
          code: isLate ? 'SILENT' : 'ASKED',
          owes: `has neither fulfilled nor refused nor deferred ${resource}`,
        }
      : { code: 'UPLOAD_MISSING', owes: `has not sent its data to ${duchy}` }),
    remedy: isOwn ? 'Fulfill it, refuse it, or defer it with a reason (mex provider run does this).' : remedy,
  });
}

/**
 * Describes the wait for a deferred requisition. If the viewer is a duchy, omits the reason, because duchies are not
 * allowed to read the reason.
 */
function deferredTask(
  facts: Facts,
  requisition: RequisitionWithKey,
  { reason, until }: { reason: string; until: Timestamp },
  resource: string,
): Wait {
  const { provider, updateTime } = requisition;
  const words = facts.viewer === 'duchy' ? '' : `: “${reason}”`;
  return {
    ...about(facts, provider, resource, updateTime),
    code: 'DEFERRED',
    detail: `${provider} deferred ${resource} until ${shortTime(until)}${words}`,
    remedy:
      facts.viewer === 'dataProvider'
        ? 'Fulfill it once what it waits for is there, or defer it again.'
        : `Nothing before ${shortTime(until)}; if that is too late, talk to ${provider} or cancel the measurement.`,
  };
}

/** Describes the wait for a task. If the party is suspended or offline, the result says so. */
function taskOf(facts: Facts, { party, resource, since, code, owes, remedy }: Task): Wait {
  const common = about(facts, party, resource, since);
  if (isSuspended(facts, party)) {
    return {
      ...common,
      code: 'SUSPENDED',
      detail: `${party} ${owes}, and is suspended: it can call nothing.`,
      remedy: 'Ask the operator of the exchange why, and to resume it.',
    };
  }
  const detail = `${party} ${owes}${seen(facts, party)}.`;
  if (isPresent(facts, party)) return { ...common, code, detail, remedy };
  const { lastSeen } = common;
  return {
    ...common,
    code: lastSeen === undefined || isBeforeCreation(facts, lastSeen) ? 'NOT_SEEN' : 'OFFLINE',
    detail,
    remedy: `Ask the operator of ${party} to start it, and to check that it reaches the exchange.`,
  };
}

function seen(facts: Facts, party: string): string {
  const { parties, now, aggregate } = facts;
  const lastSeen = parties.get(party)?.lastSeen;
  if (lastSeen === undefined) return ', and was never seen';
  const ago = (time: Timestamp) =>
    `${inWords(Date.parse(now) - Date.parse(time))} ago, on ${shortTime(time)}`;
  if (isBeforeCreation(facts, lastSeen)) {
    const { createTime } = aggregate.measurement;
    return `, and was not seen since the measurement was created ${ago(createTime)} (last ${ago(lastSeen)})`;
  }
  return `, and was last seen ${ago(lastSeen)}`;
}

/**
 * Returns whether the party was last seen before the measurement was created. `lastSeen` is rounded down to a multiple
 * of 30 seconds, so the creation time is rounded in the same way.
 */
function isBeforeCreation({ aggregate }: Facts, lastSeen: Timestamp): boolean {
  return lastSeen < halfMinuteOf(aggregate.measurement.createTime);
}

function about({ parties }: Facts, party: string, resource: string | undefined, since: Timestamp) {
  return { party, resource, since, lastSeen: parties.get(party)?.lastSeen };
}

function revocationWait(facts: Facts, { party, id, revocationState }: Certificate): Wait {
  const name = certificateName(party, id);
  return {
    ...about(facts, party, name, facts.aggregate.measurement.updateTime),
    code: 'REVOCATION_RUNNING',
    detail: `${name} is ${revocationState === 'HOLD' ? 'on hold' : 'revoked'}, and measurements that depend on it are being failed.`,
    remedy: 'It fails within seconds; measure again with another certificate.',
  };
}

function expiredWait(facts: Facts, { party, id, notAfter }: Certificate): Wait {
  const name = certificateName(party, id);
  return {
    ...about(facts, party, name, notAfter),
    code: 'CERTIFICATE_EXPIRED',
    detail: `${name}, which it depends on, expired on ${shortTime(notAfter)}.`,
    remedy: `${party} registers a new certificate; then cancel the measurement and create it again.`,
  };
}
