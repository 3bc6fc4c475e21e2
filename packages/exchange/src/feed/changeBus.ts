/** Announces changes within this process: writers emit events, and code that waits for changes listens for them. */
import { EventEmitter } from 'node:events';

interface Events {
  /** A transaction in this process committed changes that these parties can see. */
  committed: [parties: ReadonlySet<string>];
  /** These parties may have new changes. Undefined means all parties. */
  changed: [parties: Iterable<string> | undefined];
  /** A background job has work to do and should run now. */
  work: [];
}

export class ChangeBus extends EventEmitter<Events> {
  committed(parties: ReadonlySet<string>): void {
    this.emit('changed', parties);
    this.emit('committed', parties);
  }
}
