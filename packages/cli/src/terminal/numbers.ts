/** Formats numbers for people. */

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
