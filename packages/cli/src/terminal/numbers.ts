/** Parses numbers that users type, and formats numbers for people. */
import { InvalidArgumentError } from 'commander';

export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a port number such as 8080, or 0 for any free port.');
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function counted(value: number, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
