/**
 * Formats the error that ends a command: as a human-readable message or, with --json, as a line of JSON for scripts.
 */
import { ExchangeError } from '@measurement-exchange/contract';
import { CommanderError, InvalidArgumentError } from 'commander';
import { explain, Failed, toJson } from './output.ts';

export function exitCodeOf(error: unknown): number {
  return error instanceof CommanderError || error instanceof Failed ? error.exitCode : 1;
}

/** Returns the text for standard error. The text is empty after --help, or if Commander already printed the error. */
export function errorText(error: unknown, isJson: boolean): string {
  if (exitCodeOf(error) === 0) return '';
  if (isJson) return `${toJson(errorJson(error))}\n`;
  // Commander prints its own errors, but not an InvalidArgumentError that a command throws after the options are
  // parsed.
  const isPrinted = error instanceof CommanderError && !(error instanceof InvalidArgumentError);
  return isPrinted ? '' : `mex: ${explain(error)}\n`;
}

interface ErrorJson {
  /** The code of the exchange's error, USAGE for a wrong command line, or LOCAL for everything else. */
  code: string;
  reason: string;
  message: string;
  fields: { field: string; description: string }[];
}

function errorJson(error: unknown): ErrorJson {
  if (error instanceof CommanderError) return usageJson(error);
  const message = explain(error);
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ExchangeError) {
      const { code, reason, violations } = each;
      return { code, reason, message, fields: violations };
    }
    const { code, reason = code } = each as { code?: unknown; reason?: unknown };
    if (typeof reason === 'string') return { code: 'LOCAL', reason, message, fields: [] };
  }
  return { code: 'LOCAL', reason: 'FAILED', message, fields: [] };
}

/**
 * Converts a usage error to JSON. Commander's message is similar to
 * `error: option '--limit <count>' argument 'x' is invalid. …`.
 */
function usageJson({ code, message: text }: CommanderError): ErrorJson {
  const message = text.replace(/^error: /, '');
  const field = /'((?:-\w, )?--[\w-]+|[\w-]+)/.exec(message)?.[1];
  const reason = code.replace('commander.', '').replace(/[A-Z]/g, '_$&').toUpperCase();
  return { code: 'USAGE', reason, message, fields: field ? [{ field, description: message }] : [] };
}
