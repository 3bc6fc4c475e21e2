/**
 * Compares the pages about sign-in with the program: the settings on the pages must be valid, and the commands and
 * options must exist.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, type JsonObject, type Violation } from '@measurement-exchange/contract';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { issuerProblems } from '@measurement-exchange/exchange/internal/config/production/issuers';
import { SignIn } from '@measurement-exchange/server/signIn';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createMex } from '../src/program.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGES = globSync('docs/sign-in{,/*}.md', { cwd: ROOT });

const blocks = (page: string, language: string) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)]
    .filter(([, found]) => found === language)
    .map(([, , text]) => text!);

it.each(PAGES)('%s has settings that the exchange and agents accept', (page) => {
  const settings = blocks(page, 'json').map(
    (text): JsonObject => JSON.parse(text.startsWith('{') ? text : `{${text}}`),
  );
  const issuers = settings.flatMap((each) => (each.issuers ?? []) as Config['issuers']);
  expect(issuerProblems({ ...loadConfig({}), issuers }, { file: () => undefined })).toEqual([]);
  const violations: Violation[] = [];
  for (const { signIn } of settings) if (signIn) decode(SignIn, signIn, violations);
  expect(violations).toEqual([]);
  // Agents sign in at the same issuers as people. The exception is Google: its service accounts have no client secret.
  const agents = settings.flatMap(({ signIn }) => (signIn ? [(signIn as JsonObject).issuer] : []));
  expect(agents).toEqual(page.endsWith('google.md') ? [] : issuers.map(({ issuer }) => issuer));
});

it.each(PAGES)('%s uses only existing commands and options of mex', async (page) => {
  const lines = blocks(page, 'sh').flatMap((text) => text.replaceAll('\\\n', ' ').split('\n'));
  const typed = lines.filter((line) => line.startsWith('mex '));
  expect(typed.length).toBeGreaterThan(0);
  for (const line of typed) {
    const words = line.split(/\s+/).slice(1);
    const mex = await createMex(words);
    let command: Command = mex;
    const commands = mex.commands.map((sub) => sub.name());
    const begin = words.findIndex((word) => commands.includes(word));
    for (const word of words.slice(begin)) {
      if (command.commands.length === 0 || word.startsWith('-')) break;
      const sub = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word));
      expect(sub, `${line}: ${word}`).toBeDefined();
      command = sub!;
    }
    expect(command, line).not.toBe(mex);
    const known = [...mex.options, ...command.options].map(({ long }) => long);
    for (const word of words.filter((each) => each.startsWith('--'))) expect(known, line).toContain(word);
  }
});
