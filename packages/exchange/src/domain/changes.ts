/** Determines the changes that each party sees in its change log. */
import type { ChangeKind, Timestamp } from '@measurement-exchange/contract';
import { type Change, measurementName, type Outline } from './aggregate.ts';
import { certificateName, type VersionedCertificate } from './certificate.ts';
import { type EventGroupRecord, eventGroupName } from './eventGroup.ts';
import { computationName, computationState, computationVersion } from './participants.ts';
import type { PartyRecord } from './party.ts';
import { type ReportRecord, reportName } from './report.ts';

export interface ChangeRecord {
  party: string;
  /** The name that `party` uses for the resource. */
  name: string;
  kind: ChangeKind;
  state: string | undefined;
  version: number;
  time: Timestamp;
}

/**
 * Returns the changes that each party sees. A step is one state transition of one resource. The consumer sees each step
 * of the measurement and its requisitions. A provider sees each step of its own requisition. A duchy sees all steps
 * together as one change to its computation.
 */
export function changesOf({ after, steps }: Change<Outline>): ChangeRecord[] {
  const { measurement: m, requisitions, participants } = after;
  const changes: ChangeRecord[] = [];
  const measurement = measurementName(m);
  for (const { subject, to: state, version, time } of steps) {
    if (subject === '') {
      changes.push({ party: m.consumer, name: measurement, kind: 'MEASUREMENT', state, version, time });
      continue;
    }
    const provider = requisitions.find(({ id }) => id === subject)?.provider;
    if (provider === undefined) continue;
    const step = { kind: 'REQUISITION', state, version, time } as const;
    changes.push({ party: provider, name: `${provider}/requisitions/${subject}`, ...step });
    changes.push({ party: m.consumer, name: `${measurement}/requisitions/${subject}`, ...step });
  }
  if (participants.length === 0 || steps.length === 0) return changes;
  const computation = {
    kind: 'COMPUTATION',
    state: computationState(after),
    version: computationVersion(after),
  } as const;
  for (const { duchy, updateTime: time } of participants) {
    changes.push({ party: duchy, name: computationName(duchy, m.id), ...computation, time });
  }
  return changes;
}

export function partyChange({ name, state, version, updateTime: time }: PartyRecord): ChangeRecord {
  return { party: name, name, kind: 'PARTY', state, version, time };
}

export function certificateChange(
  { party, id, revocationState, version }: VersionedCertificate,
  time: Timestamp,
): ChangeRecord {
  const name = certificateName(party, id);
  return { party, name, kind: 'CERTIFICATE', state: revocationState, version, time };
}

export function descriptorChange(d: {
  provider: string;
  id: string;
  version: number;
  updateTime: Timestamp;
}): ChangeRecord {
  const name = `${d.provider}/eventGroupMetadataDescriptors/${d.id}`;
  const { provider: party, version, updateTime: time } = d;
  return { party, name, kind: 'DESCRIPTOR', state: undefined, version, time };
}

/**
 * Returns one change for the provider and one for the consumer, because they use different names for the event group.
 */
export function eventGroupChanges(group: EventGroupRecord): ChangeRecord[] {
  const { provider, consumer, id, state, version, updateTime: time } = group;
  return [provider, consumer].map((party) => {
    return { party, name: eventGroupName(party, id), kind: 'EVENT_GROUP', state, version, time };
  });
}

export function reportChange(report: ReportRecord, time: Timestamp): ChangeRecord {
  const { consumer: party, state, version } = report;
  return { party, name: reportName(report), kind: 'REPORT', state, version, time };
}
