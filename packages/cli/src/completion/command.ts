import { Argument, Command } from 'commander';
import { print } from '../terminal/output.ts';
import { completionScript, SHELLS, type Shell } from './scripts.ts';
import { commandTree } from './tree.ts';

export function completionCommand(): Command {
  return new Command('completion')
    .description('print a script that completes commands, options and names of demo parties')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
  bash   source <(mex completion bash)                                       in ~/.bashrc
  zsh    source <(mex completion zsh)                                        in ~/.zshrc, after compinit
  fish   mex completion fish > ~/.config/fish/completions/mex.fish`,
    )
    .action((shell: Shell, _options: unknown, command: Command) => {
      print(completionScript(shell, commandTree(command.parent!)));
    });
}
