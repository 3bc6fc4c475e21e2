/** Limits the memory for the request bodies of each principal. */

/** The memory limit per principal: 16 bodies of the default maximum size. */
const MAX_HELD = 64 * 1024 * 1024;

export class BodyMemory {
  private readonly held = new Map<string, number>();

  /** Reserves memory. Returns false and reserves nothing if the principal would exceed the limit. */
  take(principal: string, bytes: number): boolean {
    const held = (this.held.get(principal) ?? 0) + bytes;
    if (held > MAX_HELD) return false;
    this.held.set(principal, held);
    return true;
  }

  release(principal: string, bytes: number): void {
    const held = this.held.get(principal)! - bytes;
    if (held === 0) this.held.delete(principal);
    else this.held.set(principal, held);
  }
}
