import type { Edit, PlantedBug } from '../plant.ts';
import { test } from './edits.ts';

const inConsole = (file: string, find: string, replace: string): Edit => ({
  file: `cli/src/console/${file}`,
  find,
  replace,
});

const foundBy = (name: string) => test('cli/test/console.test.ts', name);

/** Bugs that would let another web page, or another user of the machine, use the keys of a party. */
export const CONSOLE_BUGS: PlantedBug[] = [
  {
    name: 'console-link-works-twice',
    edits: [inConsole('guard.ts', 'link.used = true;', '')],
    foundBy: foundBy('works once, sets a cookie'),
  },
  {
    // With this bug, a page on an attacker's domain that resolves to 127.0.0.1 can send requests to the console.
    name: 'console-answers-any-host',
    edits: [inConsole('guard.ts', 'if (host !== this.origin.host) {', 'if (host === undefined) {')],
    foundBy: foundBy('a foreign Host that resolves to this machine'),
  },
  {
    name: 'console-answers-any-page',
    edits: [
      inConsole(
        'guard.ts',
        'const isForeign = origin !== undefined &&',
        'const isForeign = origin === "" &&',
      ),
    ],
    foundBy: foundBy('another origin'),
  },
  {
    // With this bug, the exchange would learn the secret that opens the console.
    name: 'console-forwards-its-cookie',
    edits: [
      inConsole('forward.ts', "= ['accept', 'content-type',", "= ['cookie', 'accept', 'content-type',"),
    ],
    foundBy: foundBy('sends the token of the party'),
  },
];
