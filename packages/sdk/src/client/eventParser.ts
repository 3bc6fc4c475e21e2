/** Server-Sent Events out of the pieces in which their text arrives, as far as an exchange sends them. */

/** Without fields for a comment. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
}

/** A change has some hundred characters, and its token. */
const MAX_EVENT_LENGTH = 64 * 1024;

export class EventParser {
  private rest = '';

  /** The events that have ended; the beginning of the next one is kept. */
  push(text: string): StreamEvent[] {
    const events = (this.rest + text).split('\n\n');
    this.rest = events.pop()!;
    if (this.rest.length > MAX_EVENT_LENGTH) throw new Error('an event without an end');
    return events.map(eventOf);
  }
}

function eventOf(text: string): StreamEvent {
  const fields = text.split('\n').flatMap((line) => {
    const [, field, value] = FIELD.exec(line) ?? [];
    return field === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(fields);
}

const FIELD = /^(id|event|data|retry): ?(.*)$/;
