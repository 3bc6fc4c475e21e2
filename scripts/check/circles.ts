/** Finds circular imports. */

/** Returns at least one circle, such as `a.ts → b.ts → a.ts`, for every group of files that import each other. */
export function circles(imports: Map<string, string[]>): string[] {
  const found: string[] = [];
  const path: string[] = [];
  const done = new Set<string>();
  const visit = (file: string) => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file].join(' → '));
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  return found;
}
