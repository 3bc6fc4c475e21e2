/**
 * Finds wording in comments that readers stumble over, such as sentences that start with "What" or "Of", or a "who"
 * without a noun. `node scripts/check/words.ts packages/duchy` lists the problems in one folder.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['packages/*/src/**/*.{ts,tsx,mjs}', '{bench,rig,scripts}/**/*.{ts,mjs}', '*.{ts,mjs}'];

/** A pattern of awkward wording, and advice for better wording. */
const AWKWARD: [pattern: RegExp, instead: string][] = [
  [/^(?:Of|Whose)\s/, 'begin with the subject'],
  [/^What\s(?!if\b)/, 'begin with the subject: name what it is'],
  [/^Who(?:ever|m)?\s/, 'name the party: "A client that …"'],
  [
    /(?:[,;:(]|\b(?:to|for|of|by|and|or|than|from|with|as|is|are|but|only|before|after|until|because|whether|if|while|when|where|that|at|on|in|against|like))\s+who(?:ever|m)?\b/i,
    'put a noun before "who"',
  ],
  [/\b(?:is|are|was|were) none\b/, 'say what is missing: "no certificate exists"'],
  [
    /\b(?:is|are|was) no (?!longer\b|more\b|less\b|other\b|such\b|\w+er\b)(?<![Tt]here (?:is|are|was) no )/,
    '"is not a …"',
  ],
  [/\b(?:goes|go|went) on\b/, '"continues"'],
  [/\bnow and then\b/, 'say how often'],
  [/\b(?:all silent|truth lies|is told by|keeps? silent)\b/, 'say it plainly'],
];

/** Returns the problems in the form `file:line: "sentence": what to do instead`. */
export function wordProblems(root: string, inFolder = ''): string[] {
  return globSync(SOURCES, { cwd: root })
    .filter((file) => file.startsWith(inFolder) && !/\.test\.ts$|node_modules|\/gen\//.test(file))
    .sort()
    .flatMap((file) =>
      commentsOf(readFileSync(join(root, file), 'utf8')).flatMap(({ line, text }) =>
        sentencesOf(text).flatMap((sentence) =>
          AWKWARD.filter(([pattern]) => pattern.test(sentence)).map(
            ([, instead]) => `${file}:${line}: "${sentence}": ${instead}`,
          ),
        ),
      ),
    );
}

/** Returns the comments of a source file as plain text. Consecutive `//` lines are one comment. */
export function commentsOf(source: string): { line: number; text: string }[] {
  const comments: { line: number; text: string }[] = [];
  for (const match of source.matchAll(
    /\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n?)+|(?<=[\s;{},)])\/\/ .*/gm,
  )) {
    const text = match[0]
      .replace(/^\/\*\*?|\*\/$/g, '')
      .replace(/^[ \t]*(?:\/\/|\*)[ \t]?/gm, '')
      .replace(/```[\s\S]*?```/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    if (text !== '') comments.push({ line: source.slice(0, match.index).split('\n').length, text });
  }
  return comments;
}

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+(?=[A-Z`])|\s(?=@(?:param|returns|throws|example)\b)/)
    .map((sentence) => sentence.trim());
}

if (process.argv[1] === import.meta.filename) {
  const problems = wordProblems(join(import.meta.dirname, '../..'), process.argv[2]);
  for (const problem of problems) console.log(problem);
  console.log(`${problems.length} to reword`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
