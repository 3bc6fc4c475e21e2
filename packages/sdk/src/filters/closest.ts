/** Finds the known name that the author of a filter probably meant. */

export function closest(name: string, candidates: Iterable<string>): string | undefined {
  // Allow one wrong letter for every three letters of the name, but always at least one.
  let most = Math.max(1, Math.floor(name.length / 3));
  let found: string | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > most) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance > most || (distance === most && found !== undefined)) continue;
    [most, found] = [distance, candidate];
  }
  return found;
}

/**
 * Returns the number of edits that turn one word into the other (optimal string alignment distance). An edit inserts,
 * deletes, or replaces a letter, or swaps two neighboring letters.
 */
export function editDistance(a: string, b: string): number {
  let [before, above]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above![j - 1]! + Number(a[i - 1] !== b[j - 1]);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? before![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row[j] = Math.min(replaced, swapped, above![j]! + 1, row[j - 1]! + 1);
    }
    [before, above] = [above, row];
  }
  return above![b.length]!;
}
