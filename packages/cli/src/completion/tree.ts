/** Lists the commands, options, and arguments of `mex`, for shell completion. */
import type { Argument, Command, Option } from 'commander';

export type Values = { choices: string[] } | { parties: string } | 'file' | 'anything';

export interface Word {
  word: string;
  description: string;
}

export interface Node {
  /** The path of the command, such as `measurements list`. Empty for mex itself. */
  path: string;
  commands: Word[];
  options: (Word & { value?: Values })[];
  arguments: Values[];
}

export function commandTree(command: Command, path: string[] = []): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const node: Node = {
    path: path.join(' '),
    commands: commands.flatMap((sub) => [
      wordOf(sub.name(), sub),
      ...sub.aliases().map((a) => wordOf(a, sub)),
    ]),
    options: help.visibleOptions(command).flatMap(optionWords),
    arguments: command.registeredArguments.map(valuesOf),
  };
  const below = commands.filter((sub) => sub.name() !== 'help');
  return [
    node,
    ...below.flatMap((sub) =>
      [sub.name(), ...sub.aliases()].flatMap((name) => commandTree(sub, [...path, name])),
    ),
  ];
}

function wordOf(word: string, command: Command): Word {
  return { word, description: firstSentence(command.summary() || command.description()) };
}

function optionWords(option: Option): Node['options'] {
  const description = firstSentence(option.description);
  const value = option.required || option.optional ? { value: valuesOf(option) } : {};
  return [option.long, option.short]
    .filter((word) => word !== undefined)
    .map((word) => ({ word, description, ...value }));
}

/**
 * Returns the parameter's choices if it has any. Otherwise, determines the kind of value from the placeholder, such as
 * `<party>`, `<provider>`, `<file>`, `<dir>`, or `<root.pem>`.
 */
function valuesOf(parameter: Argument | Option): Values {
  if (parameter.argChoices !== undefined) return { choices: parameter.argChoices };
  const text = 'flags' in parameter ? parameter.flags.replace(/^[^<[]*/, '') : parameter.name();
  if (/\bparty\b/.test(text)) return { parties: '' };
  if (/\bprovider\b/.test(text)) return { parties: 'dataProviders/' };
  if (/\bfile\b|\bdir\b|\.\w+\b/.test(text)) return 'file';
  return 'anything';
}

function firstSentence(text: string): string {
  return text.split(/[:;(\n]/)[0]!.trim();
}
