/** Explains to the publisher why a request waits, or how it ended. */
import type { Explanation, Requisition } from '@measurement-exchange/contract';
import { duration, longMoment } from '../../format.ts';
import { isolated, listed, type NameOf } from '../../parts/names.ts';

export function requestTitle(
  { waitingFor, ending, summary }: Explanation,
  { deferral, dataProvider }: Requisition,
  nameOf: NameOf,
  now: number,
): string {
  if (ending !== undefined) return ENDINGS[ending.code] ?? summary;
  const [wait] = waitingFor;
  if (wait === undefined) return summary;
  const isOwn = wait.party === dataProvider;
  const who = isOwn ? 'you' : nameOf(wait.party);
  const parties = [...new Set(waitingFor.map(({ party }) => party))].map(nameOf);
  const waited = duration(now - Date.parse(wait.since));
  switch (wait.code) {
    case 'DEFERRED':
      // The request may not contain the deferral yet, because the page reads the request and the explanation
      // separately.
      return deferral
        ? `You deferred it until ${longMoment(deferral.until)}: ${isolated(deferral.reason)}`
        : summary;
    case 'ASKED':
      return 'It waits for your answer';
    case 'SILENT':
      return `It has waited for your answer for ${waited}`;
    case 'OFFLINE':
    case 'NOT_SEEN':
      return isOwn
        ? `Your agent is not connected, and it has waited for ${waited}`
        : `${who} is out of reach`;
    case 'UPLOAD_MISSING':
      return isOwn ? 'It waits for your data' : `It waits until ${who} takes your data`;
    case 'PARAMETERS_MISSING':
      return `It waits for the keys of ${listed(parties)}`;
    case 'KEY_CHANGED':
      return 'It is encrypted for a key that you no longer publish';
    case 'SUSPENDED':
      return isOwn ? 'You are suspended' : `${who} is suspended`;
    case 'CERTIFICATE_EXPIRED':
      return isOwn ? 'Your certificate has expired' : `The certificate of ${who} has expired`;
    case 'REVOCATION_RUNNING':
      return 'A certificate was revoked, so this measurement is going to fail';
    default:
      return summary;
  }
}

const ENDINGS: Partial<Record<NonNullable<Explanation['ending']>['code'], string>> = {
  FULFILLED: 'You answered it',
  REFUSED: 'You refused it, so the measurement failed',
  WITHDRAWN: 'It was withdrawn: the measurement ended without your answer',
  CANCELLED: 'The advertiser canceled the measurement',
  REMOVED: 'It has ended, and the exchange has removed its content',
};
