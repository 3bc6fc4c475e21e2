/**
 * The JSON schema of a report's definition. Editors use it for completion, and `readDefinition` uses it for validation.
 */

/** The days on which a week can start. */
export const WEEKDAYS = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;

export const PERIODS = ['total', 'daily', ...WEEKDAYS.map((day) => `weekly(${day})` as const)] as const;
export const METRICS = ['reach', 'frequency', 'impressions', 'watchDuration'] as const;

export const MAX_SEGMENTS = 12;
/** The maximum and the default number of frequencies in a distribution. */
export const MAX_FREQUENCY = 20;
export const DEFAULT_FREQUENCY = 10;
/** The default caps on one person's impressions and on one person's watch seconds. */
export const DEFAULT_IMPRESSIONS_CAP = 20;
export const DEFAULT_SECONDS_CAP = 3600;

const text = (description: string, maxLength = 200) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});
const names = (description: string) => ({
  type: 'array',
  items: text('A name'),
  minItems: 1,
  maxItems: 1000,
  description,
});
const record = (description: string, value: object) => ({
  type: 'object',
  format: 'map',
  additionalProperties: value,
  description,
});
const object = (description: string, required: string[], properties: Record<string, object>) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
  description,
});

const figure = object('Figures of one kind, for each set, period and group.', ['metric', 'of'], {
  metric: { type: 'string', enum: METRICS, description: 'What to count.' },
  of: names('Segments or sets.'),
  periods: { type: 'string', enum: PERIODS, description: 'The default is total.' },
  cumulative: { type: 'boolean', description: 'Each period starts at the start of the report.' },
  groups: text('The name of a member of `groups`.'),
  precision: {
    format: 'json',
    oneOf: [
      { type: 'string', pattern: '^\\d+(\\.\\d+)? ?%$' },
      { type: 'number', exclusiveMinimum: 0 },
    ],
    description: 'The half-width of the 95 % interval that is wanted: "2 %" of the figure, or a number.',
  },
  maximumFrequency: {
    type: 'integer',
    minimum: 2,
    maximum: MAX_FREQUENCY,
    description: `The last frequency, which means "or more". The default is ${DEFAULT_FREQUENCY}.`,
  },
  maximumPerPerson: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    description: 'The cap on impressions or seconds of one person at one data provider.',
  },
});

export const DEFINITION_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Report',
  ...object('A question about a campaign.', ['title', 'interval', 'segments', 'figures', 'budget'], {
    $schema: text('The path of this schema, for editors. It is not part of the definition.', 2000),
    title: text('A title for people.'),
    interval: object('The days of the report.', ['start', 'end', 'timeZone'], {
      start: text('The first day, such as 2026-07-01.'),
      end: text('The day after the last day.'),
      timeZone: text('An IANA time zone, such as Europe/Berlin. Days start at midnight there.'),
    }),
    modelLine: text('A model line of the exchange.'),
    segments: record(`1 to ${MAX_SEGMENTS} segments, which sets combine.`, {
      ...object('Events of one data provider or several.', ['eventGroups'], {
        eventGroups: names('Resource names, dataProviders/…/eventGroups/….'),
        filter: text('A CEL expression that selects events.', 8000),
      }),
    }),
    sets: record(
      'Expressions of segments with |, &, - and parentheses.',
      text('Such as tv - (video | social)', 2000),
    ),
    groups: record(
      'Breakdowns by attributes of the population.',
      object('A breakdown.', ['by'], { by: names('Attributes.') }),
    ),
    figures: {
      type: 'array',
      items: figure,
      minItems: 1,
      maxItems: 200,
      description: 'The figures of the report.',
    },
    budget: object('The most that each data provider may be charged for each day.', [], {
      epsilon: { type: 'number', exclusiveMinimum: 0, description: 'Split among the measurements.' },
      rho: { type: 'number', exclusiveMinimum: 0, description: 'Split among the measurements.' },
      delta: {
        type: 'number',
        minimum: 0,
        description: 'The delta of each measurement, with rho; or split, with epsilon.',
      },
    }),
  }),
} as const;

/**
 * Returns the schema for editors (docs/report.schema.json). Omits each `format`, because its value is the name of a
 * custom format that only `readDefinition` knows.
 */
export function editorSchema(): object {
  return JSON.parse(
    JSON.stringify(DEFINITION_SCHEMA, (key, value) => (key === 'format' ? undefined : value)),
  );
}
