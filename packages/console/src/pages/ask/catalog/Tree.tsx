/** Shows a JSON value as a readable tree. */

const MAX_DEPTH = 20;
const MAX_ITEMS = 200;

export function Tree({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (value === null || typeof value !== 'object') return <bdi>{wordOf(value)}</bdi>;
  if (depth >= MAX_DEPTH) return <span className="muted">nested too deep to show</span>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="muted">empty</span>;
  const isList = Array.isArray(value);
  const isPlain = isList && value.every((item) => item === null || typeof item !== 'object');
  if (isPlain) return <bdi>{value.slice(0, MAX_ITEMS).map(wordOf).join(', ')}</bdi>;
  return (
    <>
      <dl className="kv tree">
        {entries.slice(0, MAX_ITEMS).map(([name, item]) => (
          <Entry
            key={name}
            name={isList ? `${Number(name) + 1}.` : spaced(name)}
            item={item}
            depth={depth + 1}
          />
        ))}
      </dl>
      {entries.length > MAX_ITEMS && <p className="hint">{entries.length - MAX_ITEMS} more</p>}
    </>
  );
}

function Entry({ name, item, depth }: { name: string; item: unknown; depth: number }) {
  return (
    <>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd>
        <Tree value={item} depth={depth} />
      </dd>
    </>
  );
}

/** Converts a field name to words: `brandName` becomes `Brand name`. */
export function spaced(name: string): string {
  if (!/^[a-z]\w*$/i.test(name)) return name;
  const words = name
    .replaceAll('_', ' ')
    .replace(/([a-z\d])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function wordOf(value: unknown): string {
  if (value === true) return 'yes';
  if (value === false) return 'no';
  return value === undefined || value === null ? 'nothing' : String(value);
}
