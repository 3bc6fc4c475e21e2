/** Parses Server-Sent Events (HTML Living Standard, 9.2.6) from text that arrives in pieces. */

/** One event, with the fields that were sent. A comment is returned as an event without fields. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
}

/** The maximum length of an event. The events of an exchange have only a few hundred characters. */
const MAX_EVENT_LENGTH = 64 * 1024;
const LINE_END = /\r\n|\r|\n/;
/** `retry` counts only if its value is a whole number. */
const FIELD = /^(?:(id|event|data)(?:: ?(.*))?|(retry): ?(\d+))$/s;

export class EventParser {
  private rest = '';
  private event: StreamEvent = {};
  private length = 0;
  private endedWithCr = false;

  /** Returns the events that this text completes. Throws if an event is too long. */
  push(text: string): StreamEvent[] {
    // Skip the \n if \r\n was split between two pieces, because the \r has already ended the line.
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
    const [, text, textValue, number, numberValue] = FIELD.exec(line) ?? [];
    const [field, value = ''] = [text ?? number, textValue ?? numberValue];
    if (field === 'data' && this.event.data !== undefined) this.event.data += `\n${value}`;
    else if (field !== undefined) this.event[field as keyof StreamEvent] = value;
    return undefined;
  }
}
