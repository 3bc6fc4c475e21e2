/** Announces changes within this process. Writers emit events, and code that waits for changes listens. */
import { EventEmitter } from 'node:events';

interface Events {
  /** Emitted when a transaction of this process has committed changes that these parties can see. */
  committed: [parties: ReadonlySet<string>];
  /** Emitted when these parties may have new changes. Undefined means all parties. */
  changed: [parties: Iterable<string> | undefined];
  work: [];
}

export class ChangeBus extends EventEmitter<Events> {
  committed(parties: ReadonlySet<string>): void {
    this.emit('changed', parties);
    this.emit('committed', parties);
  }
}
