/** Reads Server-Sent Events from text that arrives in pieces (HTML Living Standard, 9.2.6). */

/** An event with the fields that were sent; a comment is an event without fields. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
}

/** An exchange's events have a few hundred characters, so an event longer than this is an error. */
const MAX_EVENT_LENGTH = 64 * 1024;
const LINE_END = /\r\n|\r|\n/;
const FIELD = /^(id|event|data|retry)(?:: ?(.*))?$/s;

export class EventParser {
  /** The part of the current line that has arrived so far. */
  private rest = '';
  /** The part of the current event that has arrived so far, and its length. */
  private event: StreamEvent = {};
  private length = 0;
  private endedWithCr = false;

  /** Parses more text, and returns the events that it completes. Throws if an event is too long. */
  push(text: string): StreamEvent[] {
    // A \r\n may be split between two pieces. In that case, the \r has already ended the line.
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
