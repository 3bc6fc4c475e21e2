/** Looks up the duchies that a protocol's stage table refers to by place, such as the next duchy in the ring. */
import { type Computation, type DuchyRole, parseName } from '@measurement-exchange/contract';
import { protocolMath } from '@measurement-exchange/mpc/protocols';
import type { Roles } from '@measurement-exchange/mpc/protocols/protocol';
import type { Place } from '@measurement-exchange/mpc/protocols/stages';
import { PermanentError } from './errors.ts';
import { configOf, protocolOf } from './plan.ts';

type View = Pick<Computation, 'name' | 'participants' | 'protocolConfig'>;

export function duchiesAt(place: Place, view: View): string[] {
  switch (place) {
    case 'EVERY_WORKER':
      return rolesOf(view).flatMap(([duchy, role]) => (role === 'WORKER' ? [duchy] : []));
    case 'PREVIOUS':
      return [neighbor(view, -1)];
    case 'NEXT':
      return [neighbor(view, 1)];
    default:
      return [duchyWith(place, view)];
  }
}

/**
 * Returns the name of the duchy that `place` refers to. Must not be called with EVERY_WORKER, which refers to several
 * duchies.
 */
export function duchyAt(place: Place, view: View): string {
  return duchiesAt(place, view)[0]!;
}

/** Returns the ring of duchies (the workers in order, then the aggregator) and this duchy's index in the ring. */
export function ownPlace(view: View): { ring: string[]; place: number } {
  const ring = rolesOf(view).map(([duchy]) => duchy);
  const { duchy } = parseName('computation', view.name ?? '') ?? {};
  return { ring, place: ring.indexOf(`duchies/${duchy}`) };
}

function rolesOf(view: View): Roles {
  const protocol = protocolOf(view);
  return protocolMath(protocol).rolesOf(configOf(protocol, view));
}

/** Returns the previous or next duchy in the ring. The first worker follows the aggregator. */
function neighbor(view: View, distance: 1 | -1): string {
  const { ring, place } = ownPlace(view);
  return ring.at((place + distance) % ring.length)!;
}

function duchyWith(role: DuchyRole, { participants }: View): string {
  const found = Object.entries(participants).find(([, participant]) => participant.role === role);
  if (found === undefined) throw new PermanentError('PARTICIPANTS_INVALID', { stage: role });
  return found[0];
}
