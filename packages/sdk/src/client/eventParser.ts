/** Reads Server-Sent Events from text that arrives in pieces (HTML Living Standard, 9.2.6). */

/** An event with the fields that were sent; a comment is an event without fields. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
}

/** A change has a few hundred characters, and its token. */
const MAX_EVENT_LENGTH = 64 * 1024;
const LINE_END = /\r\n|\r|\n/;
const FIELD = /^(id|event|data|retry)(?:: ?(.*))?$/s;

export class EventParser {
  /** The line that has not ended yet. */
  private rest = '';
  /** The event that has not ended yet, and its length so far. */
  private event: StreamEvent = {};
  private length = 0;
  private endedWithCr = false;

  /** Returns the events that have ended. Throws where one is longer than any of an exchange. */
  push(text: string): StreamEvent[] {
    // The second half of a \r\n whose first half ended the line already.
    const isSecondHalf = this.endedWithCr && text.startsWith('\n');
    if (text !== '') this.endedWithCr = text.endsWith('\r');
    const lines = (this.rest + (isSecondHalf ? text.slice(1) : text)).split(LINE_END);
    this.rest = lines.pop()!;
    const events = lines.flatMap((line) => this.readLine(line) ?? []);
    if (this.length + this.rest.length > MAX_EVENT_LENGTH) throw new Error('an event is too long');
    return events;
  }

  private readLine(line: string): StreamEvent | undefined {
    if (line === '') {
      const { event } = this;
      this.event = {};
      this.length = 0;
      return event;
    }
    this.length += line.length;
    if (this.length > MAX_EVENT_LENGTH) throw new Error('an event is too long');
    const [, field, value = ''] = FIELD.exec(line) ?? [];
    if (field === 'data' && this.event.data !== undefined) this.event.data += `\n${value}`;
    else if (field !== undefined) this.event[field as keyof StreamEvent] = value;
    return undefined;
  }
}
