import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventParser, type StreamEvent } from './eventParser.ts';

function parse(...pieces: string[]): StreamEvent[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

const TEXT =
  'id: t1\ndata: {"name":"Zoë 🙂"}\n\n:\n\nid: t2\n\nevent: error\ndata: a\ndata: b\n\nretry: 70\n\n';
const EVENTS: StreamEvent[] = [
  { id: 't1', data: '{"name":"Zoë 🙂"}' },
  {},
  { id: 't2' },
  { event: 'error', data: 'a\nb' },
  { retry: '70' },
];

describe.each([
  ['\\n', '\n'],
  ['\\r\\n', '\r\n'],
  ['\\r', '\r'],
])('events whose lines end with %s', (_name, end) => {
  const text = TEXT.replaceAll('\n', end);

  it('are parsed from one chunk', () => {
    expect(parse(text)).toEqual(EVENTS);
  });

  it('are the same if the text and the bytes of its characters are split at any place', () => {
    const bytes = new TextEncoder().encode(text);
    const cuts = fc.uniqueArray(fc.nat(bytes.length), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (places) => {
        const decoder = new TextDecoder();
        const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
        const pieces = edges.slice(1).map((edge, i) => bytes.subarray(edges[i], edge));
        expect(parse(...pieces.map((piece) => decoder.decode(piece, { stream: true })))).toEqual(EVENTS);
      }),
    );
    expect(parse(...text)).toEqual(EVENTS);
  });

  it('are returned as soon as their last line ends', () => {
    expect(parse(`id: t1${end}data: x${end}${end}`)).toEqual([{ id: 't1', data: 'x' }]);
  });
});

it('a field value is read without its first space and may be empty, and unknown fields are ignored', () => {
  expect(parse('data:x\n\ndata:  x\n\ndata\n\n: hello\nfoo: bar\nid: t1\nidea: t2\n\n')).toEqual([
    { data: 'x' },
    { data: ' x' },
    { data: '' },
    { id: 't1' },
  ]);
});

it('a retry that is not a whole number is ignored', () => {
  expect(parse('retry: soon\n\nretry\n\nretry: -1\n\nretry:5\n\n')).toEqual([{}, {}, {}, { retry: '5' }]);
});

it('Unicode line separators do not end a line', () => {
  expect(parse('data: "a\u2028b\u2029c\u0085d"\n\n')).toEqual([{ data: '"a\u2028b\u2029c\u0085d"' }]);
});

describe('the length limit of an event', () => {
  const parser = () => {
    const made = new EventParser();
    made.push(':\n\n');
    return made;
  };
  const LONG = 'x'.repeat(65_530);

  it('rejects one endless line', () => {
    const reading = parser();
    expect(() => {
      for (let i = 0; i < 1_000_000; i++) reading.push('data: xxxxxxxx');
    }).toThrow('an event is too long');
  });

  it('rejects an endless sequence of lines', () => {
    const reading = parser();
    expect(() => {
      for (let i = 0; i < 1_000_000; i++) reading.push('data: xxxxxxxx\n');
    }).toThrow('an event is too long');
  });

  it('rejects a longer event in one chunk, and accepts an event of exactly the limit', () => {
    expect(parser().push(`data: ${LONG}\n\n`)).toEqual([{ data: LONG }]);
    expect(() => parser().push(`data: ${LONG}x\n\n`)).toThrow('an event is too long');
    expect(() => parser().push(`id: t1\ndata: ${LONG}\n\n`)).toThrow('an event is too long');
  });

  it('applies to each event separately', () => {
    const reading = parser();
    for (let i = 0; i < 5; i++) expect(reading.push(`data: ${LONG}\n\n`)).toHaveLength(1);
  });
});
