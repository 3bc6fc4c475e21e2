/** A map whose entries end, and that never holds more than its capacity: the oldest entry leaves first. */
export class BoundedMap<V> {
  readonly #entries = new Map<string, { value: V; until: number }>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The value, unless its time is over at `now`. */
  get(key: string, now: number): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || now < entry.until) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, until: number): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#capacity) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, { value, until });
  }

  /** Removes the key, but only while it still holds this value. */
  drop(key: string, value: V): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
  }
}
