/** Changes as they appear in the log of each party that sees them. */
import type { ChangeKind, Timestamp } from '@measurement-exchange/contract';
import type { Change, Outline } from './aggregate.ts';
import type { VersionedCertificate } from './certificate.ts';
import { type EventGroupRecord, eventGroupName } from './eventGroup.ts';
import { computationState } from './participants.ts';
import type { PartyRecord } from './party.ts';

/** A version of a resource, for one of the parties that see it. */
export interface ChangeRecord {
  party: string;
  /** As the party reads it. */
  name: string;
  kind: ChangeKind;
  /** Undefined for what has none. */
  state: string | undefined;
  version: number;
  time: Timestamp;
}

/** Each step of a measurement for its consumer, of a requisition for its provider and its consumer; once for each duchy. */
export function changesOf({ after, steps }: Change<Outline>): ChangeRecord[] {
  const { measurement: m, requisitions, participants } = after;
  const changes: ChangeRecord[] = [];
  const measurement = `${m.consumer}/measurements/${m.id}`;
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
  // Every part of a computation has a version that never decreases, so their sum is the version of the computation.
  const version = [m, ...requisitions, ...participants].reduce((sum, part) => sum + part.version, 0);
  const state = computationState(after);
  for (const { duchy, updateTime: time } of participants) {
    const name = `${duchy}/computations/${m.id}`;
    changes.push({ party: duchy, name, kind: 'COMPUTATION', state, version, time });
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
  const name = `${party}/certificates/${id}`;
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

/** For its provider and its consumer, each under its own name. */
export function eventGroupChanges(group: EventGroupRecord): ChangeRecord[] {
  const { provider, consumer, id, state, version, updateTime: time } = group;
  return [provider, consumer].map((party) => {
    return { party, name: eventGroupName(party, id), kind: 'EVENT_GROUP', state, version, time };
  });
}
