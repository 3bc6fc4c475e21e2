/** Announces changes in this process: writers emit events, and code that waits for changes listens. */
import { EventEmitter } from 'node:events';

interface Events {
  /** A transaction of this process committed changes that these parties see. */
  committed: [parties: ReadonlySet<string>];
  /** These parties may have new changes; undefined means every party. */
  changed: [parties: Iterable<string> | undefined];
  /** A background job has work, and should not wait for its next run. */
  work: [];
}

export class ChangeBus extends EventEmitter<Events> {
  committed(parties: ReadonlySet<string>): void {
    this.emit('changed', parties);
    this.emit('committed', parties);
  }
}
