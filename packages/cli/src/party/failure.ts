/** Error messages and exit codes for measurements that have no result. */
import type { Refusal, RefusalJustification } from '@measurement-exchange/contract';
import {
  DataProviderUntrusted,
  ExchangeError,
  MeasurementFailed,
  ProtocolRejected,
  REFUSAL_CODES,
  ResultRejected,
  refusalCodeOf,
  WaitTimedOut,
} from '@measurement-exchange/sdk';
import { nextCommand } from '../calls/caller.ts';
import type { CallOptions } from '../calls/command.ts';
import type { ActingOptions } from '../calls/keys.ts';
import { explained } from '../connection/client.ts';
import { Failed, visible } from '../terminal/output.ts';
import { INTERRUPTED } from '../terminal/stopSignal.ts';
import { duchiesOf } from './spec.ts';

export const EXIT = { failed: 2, rejected: 3, timedOut: 4, interrupted: INTERRUPTED } as const;

export const EXIT_CODES_HELP = `
Exit codes:
  0    the result was printed (with --no-wait: the measurement was created)
  1    something is wrong with the command, the keys or the exchange; a measurement that was created continues
  2    the measurement failed or was cancelled, for good
  3    the result is rejected: a signature, a certificate or an encryption is not valid
  4    --timeout was reached; the measurement continues
  130  interrupted; the measurement continues`;

/** Advice for refusals without a code, or with a code that this version does not know. */
const ADVICE: Record<RefusalJustification, string> = {
  CONSENT_SIGNAL_INVALID:
    'It could not verify that this is from you. Ask it whether it trusts your root, and check it yourself: VERIFY',
  SPEC_INVALID: 'Ask for something else: other event groups, another interval or filter, other limits.',
  INSUFFICIENT_PRIVACY_BUDGET:
    'Ask for less: a smaller --epsilon, fewer days, other event groups; or ask the provider for more budget.',
  UNFULFILLABLE: 'It can never fulfill this: ask the provider, or measure without it.',
  DECLINED: 'It chose not to fulfill this: talk to the provider, or measure without it.',
};

/**
 * Converts an SDK error to an error that advises the user. Most of these errors have their own exit code. Returns other
 * errors unchanged.
 */
export function explainEnd(error: unknown, options: ActingOptions): unknown {
  const verify = (name: string) => nextCommand(options, `verify measurement ${name}`, options);
  if (error instanceof MeasurementFailed)
    return new Failed(EXIT.failed, failedText(error, verify), { cause: error });
  if (error instanceof ResultRejected) {
    return new Failed(
      EXIT.rejected,
      `${visible(error.message)} (${error.code})\n  The result is not shown. See which check failed: ${verify(error.measurement)}`,
      { cause: error },
    );
  }
  if (error instanceof WaitTimedOut) {
    return new Failed(
      EXIT.timedOut,
      `${error.measurement.name} is still ${error.measurement.state}.\n  ${comeBack(error.measurement.name!, options)}`,
      { cause: error },
    );
  }
  if (error instanceof DataProviderUntrusted) {
    return new Error(
      `${visible(error.message)} (${error.code})\n  Nothing was created. Trust its root with --root once you have it from ${error.dataProvider} itself, or measure without it.`,
      { cause: error },
    );
  }
  if (error instanceof ProtocolRejected) {
    const { name, protocolConfig } = error.measurement;
    const roots = duchiesOf(protocolConfig).map((duchy) => `--root ${duchy}=<file>`);
    return new Error(
      [
        `${visible(error.message)} (${error.code})`,
        ...(roots.length > 0
          ? [`  To accept these duchies, with the root of each from its operator: ${roots.join(' ')}`]
          : []),
        `  To end it: ${nextCommand(options, `measurements cancel ${name}`)}`,
      ].join('\n'),
      { cause: error },
    );
  }
  return error;
}

/**
 * The exchange's error codes if a measurement does not exist, if the caller is not allowed to see the measurement, or
 * if its name is malformed.
 */
const UNKNOWN_CODES: readonly string[] = ['NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENT'];

/**
 * If an error interrupted the wait for a result, extends the error's message with advice: the measurement continues,
 * and `mex measurements show` shows it. Returns other errors unchanged.
 */
export function explainLostWait(error: unknown, name: string, options: CallOptions): unknown {
  if (error instanceof MeasurementFailed || error instanceof WaitTimedOut) return error;
  if (error instanceof ExchangeError && UNKNOWN_CODES.includes(error.code)) return error;
  const { message } = explained(error) as Error;
  return new Error(`${message}\n  ${comeBack(name, options)}`, { cause: error });
}

function failedText(
  { measurement, reason, refusedBy }: MeasurementFailed,
  verify: (name: string) => string,
): string {
  const name = measurement.name!;
  if (reason === 'CANCELLED') return `${name} was cancelled for good.`;
  if (refusedBy !== undefined) {
    const { dataProvider, justification, message } = refusedBy;
    return visibleLines([
      `${dataProvider} refused: ${justification}`,
      ...(message ? [`  its message: ${message}`] : []),
      `  ${refusalAdvice(refusedBy, verify(name))}`,
      `  ${name} failed for good; ask again with a new one.`,
    ]);
  }
  return visibleLines([
    `${name} failed: ${reason}`,
    `  ${measurement.failure?.message ?? ''}`,
    reason === 'CERTIFICATE_REVOKED'
      ? '  Measure again; if the certificate is yours, register a new one first (mex certificates list).'
      : '  It may be worth trying again.',
  ]);
}

export function refusalAdvice({ justification, message = '' }: Refusal, verify: string): string {
  const code = refusalCodeOf(message);
  if (code === undefined) return ADVICE[justification].replace('VERIFY', verify);
  const { meaning, remedy } = REFUSAL_CODES[code];
  const check = justification === 'CONSENT_SIGNAL_INVALID' ? ` Check it yourself: ${verify}` : '';
  return `${meaning} ${remedy}${check}`;
}

function visibleLines(lines: string[]): string {
  return lines.map(visible).join('\n');
}

export function comeBack(name: string, options: CallOptions): string {
  return `It continues. Come back with: ${nextCommand(options, `measurements show ${name}`)}`;
}
