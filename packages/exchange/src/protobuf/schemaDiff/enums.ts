import { short } from './changes.ts';
import type { Comparison } from './fields.ts';
import { compareReserved } from './reserved.ts';
import type { Enum } from './schema.ts';

export function compareEnum(path: string, { was, is, changes }: Comparison): void {
  const [before, after] = [was.enums.get(path)!, is.enums.get(path)!];
  const openness = ({ open }: Enum) => (open ? 'open' : 'closed');
  changes.differs('ENUM_TYPE_CHANGED', path, 'type', openness(before), openness(after));

  // Keep the first name of each number, because JSON uses the first name if several names have the same number.
  const printed = { before: printedNames(before), after: printedNames(after) };
  const successors = new Set<string>();
  for (const [name, number] of before.numbers) {
    const at = `${path}.${name}`;
    const now = after.numbers.get(name);
    const successor = printed.before.get(number) === name ? (printed.after.get(number) ?? name) : name;
    const isRename = successor !== name && (before.numbers.get(successor) ?? number) === number;
    if (now !== undefined && now !== number) {
      changes.add('ENUM_VALUE_RENUMBERED', at, `changed its number from ${number} to ${now}`);
    } else if (isRename) {
      successors.add(successor);
      changes.add('ENUM_VALUE_RENAMED', at, `is now called ${short(successor)}`);
    } else if (now === undefined) {
      changes.add('ENUM_VALUE_REMOVED', at, `(${number}) was removed`);
    }
  }
  for (const [name, number] of after.numbers) {
    const isNew = !before.numbers.has(name) && !successors.has(name);
    if (isNew) changes.add('ENUM_VALUE_ADDED', `${path}.${name}`, `(${number}) was added`);
  }
  compareReserved(path, before.proto, after.proto, changes, true);
}

function printedNames({ numbers }: Enum): Map<number, string> {
  const names = new Map<number, string>();
  for (const [name, number] of numbers) if (!names.has(number)) names.set(number, name);
  return names;
}
