/**
 * The questions for each world: the common questions, the world's own questions, and questions about people unless the
 * world has two VID columns.
 */
import { MODEL_LINES, personOf, type Question, type World } from './world.ts';

const NOON = '2024-01-10T12:00:00Z';
const NOON_US = BigInt(Date.parse(NOON)) * 1000n;

const QUESTIONS: Question[] = [
  { groups: [{ reference: 'g' }] },
  { groups: [] },
  { groups: [{ reference: 'g' }, { reference: 'h' }], sampling: { start: 0.25, width: 0.5 } },
  {
    // Use a filter that runs in SQL.
    groups: [
      {
        reference: 'g',
        filter: {
          text: "gender == 'F' && age >= 18",
          holds: ({ gender, age }) => gender === 'F' && age !== null && age >= 18n,
        },
      },
    ],
  },
  {
    // Use a pattern, which CEL evaluates for each combination of attributes.
    groups: [
      {
        reference: 'g',
        filter: { text: "gender.matches('^F')", holds: ({ gender }) => gender?.startsWith('F') ?? false },
      },
    ],
    sampling: { start: 0.75, width: 0.5 },
  },
  {
    // Select the same event with two filters. The event must count only once.
    groups: [
      {
        reference: 'g',
        filter: { text: 'score < 0.5', holds: ({ score }) => score !== null && score < 0.5 },
      },
      {
        reference: 'h',
        filter: { text: 'score != score', holds: ({ score }) => Number.isNaN(score ?? 0) },
      },
      {
        reference: 'g',
        from: '2024-01-05',
        filter: {
          text: "size(gender + 'x') > 1 && member",
          holds: (row) => !!row.gender && row.member === true,
        },
      },
    ],
  },
  {
    groups: [
      {
        reference: 'g',
        filter: {
          text: `weight >= 9223372036854775808u || seen < timestamp('${NOON}')`,
          holds: ({ weight, seen }) =>
            (weight !== null && weight >= 2n ** 63n) || (seen !== null && seen < NOON_US),
        },
      },
    ],
    sampling: { start: 0, width: 0.5 },
  },
  {
    groups: [
      {
        reference: 'g',
        filter: {
          text: 'age == null || gender == null',
          holds: (row) => row.age === null || row.gender === null,
        },
      },
      { reference: 'h', filter: { text: '!member', holds: ({ member }) => member === false } },
    ],
  },
];

/** Questions with attributes of people, which depend only on the VID. */
const QUESTIONS_ABOUT_PEOPLE: Question[] = [
  {
    groups: [
      {
        reference: 'g',
        filter: {
          text: "person.sex == 'F' && gender == 'F'",
          holds: ({ vid, gender }) => personOf(vid).sex === 'F' && gender === 'F',
        },
      },
      {
        reference: 'h',
        filter: { text: 'person.age < 40', holds: ({ vid }) => personOf(vid).age === 30 },
      },
    ],
  },
  {
    groups: [
      {
        reference: 'g',
        filter: {
          text: 'person.age == null || !has(person.sex)',
          holds: ({ vid }) => vid !== null && personOf(vid).age === undefined,
        },
      },
    ],
    sampling: { start: 0.5, width: 0.75 },
  },
  {
    // Use two conditions that both combine attributes of people and of events. CEL evaluates the second condition.
    groups: [
      {
        reference: 'g',
        filter: {
          text: "(person.sex == 'M' || member) && (person.sex + gender).matches('^.F$')",
          holds: ({ vid, member, gender }) => {
            const { sex } = personOf(vid);
            return sex !== undefined && (sex === 'M' || member === true) && gender === 'F';
          },
        },
      },
    ],
  },
];

export function questionsFor(world: World): Question[] {
  const all = [...QUESTIONS, ...(world.questions ?? [])];
  if (!world.rows.some(({ other }) => other !== undefined)) return [...all, ...QUESTIONS_ABOUT_PEOPLE];
  return Object.keys(MODEL_LINES).flatMap((modelLine) => all.map((question) => ({ ...question, modelLine })));
}
