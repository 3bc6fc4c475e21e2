import type { Change } from '@measurement-exchange/contract';
import { changeWords } from '../../../parts/changeWords.ts';

/** Groups consecutive changes that report the same event about one resource, or about requests of one measurement. */
export function grouped(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (last && keyOf(last[0]!) === keyOf(change)) last.push(change);
    else groups.push([change]);
  }
  return groups;
}

function keyOf(change: Change): string {
  const parts = change.name.split('/');
  const isOfMeasurement = change.kind === 'REQUISITION' && parts[2] === 'measurements';
  return `${isOfMeasurement ? parts[3] : change.name} ${changeWords(change).happened}`;
}

/** Changes a verb from singular to plural, for text about several requests: `was answered` becomes `were answered`. */
export const ofSeveral = (happened: string) =>
  happened
    .replace(/^was /, 'were ')
    .replace(/^is /, 'are ')
    .replace(/^waits /, 'wait ');
