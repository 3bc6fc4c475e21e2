import { ExchangeError, MeasurementFailed, ProtocolRejected } from '@measurement-exchange/sdk';
import { expect, it } from 'vitest';
import { explainEnd, explainLostWait } from './failure.ts';

const textOf = (justification: 'SPEC_INVALID' | 'CONSENT_SIGNAL_INVALID', message: string) => {
  const measurement = {
    name: 'measurementConsumers/acme/measurements/m1',
    state: 'FAILED',
    failure: { reason: 'REQUISITION_REFUSED', message: '' },
  } as const;
  const refusedBy = { dataProvider: 'dataProviders/streamly', justification, message };
  const error = explainEnd(new MeasurementFailed(measurement as never, refusedBy), {} as never);
  return (error as Error).message;
};

it('explainEnd adds the advice for the code in the message of a refusal', () => {
  const text = textOf('SPEC_INVALID', 'FILTER_ATTRIBUTE at events[0].filter, line 1, column 1');
  expect(text).toContain('its message: FILTER_ATTRIBUTE at events[0].filter, line 1, column 1');
  expect(text).toContain('Ask the provider which attributes it offers');
  const consent = 'CERTIFICATE_INVALID (CERTIFICATE_EXPIRED) at measurementConsumerCertificate';
  expect(textOf('CONSENT_SIGNAL_INVALID', consent)).toContain('verify measurement');
});

it('explainEnd adds the advice for the justification of a refusal without a known code', () => {
  expect(textOf('SPEC_INVALID', 'toString is not for you')).toContain('Ask for something else');
});

it('explainEnd names a duchy that is not accepted, the options to accept it and the command to cancel', () => {
  const honestMajorityShareShuffle = {
    aggregator: 'duchies/gamma',
    firstWorker: 'duchies/alpha',
    secondWorker: 'duchies/beta',
  };
  const name = 'measurementConsumers/acme/measurements/m1';
  const measurement = { name, protocolConfig: { honestMajorityShareShuffle } };
  const rejected = new ProtocolRejected(
    measurement as never,
    'DUCHY_UNKNOWN',
    'duchies/gamma is not accepted',
  );
  const { message } = explainEnd(rejected, {} as never) as Error;
  expect(message).toContain('duchies/gamma is not accepted (DUCHY_UNKNOWN)');
  expect(message).toContain(
    '--root duchies/gamma=<file> --root duchies/alpha=<file> --root duchies/beta=<file>',
  );
  expect(message).toContain(`measurements cancel ${name}`);
});

it('explainLostWait keeps the reason and advice of an exchange error, and adds the command to resume', () => {
  const error = new ExchangeError('TOKEN_INVALID', 'The token has expired.');
  const { message } = explainLostWait(error, 'measurementConsumers/acme/measurements/m1', {}) as Error;
  expect(message.split('\n')).toEqual([
    'The token has expired. (TOKEN_INVALID)',
    expect.stringContaining('Get a fresh token'),
    expect.stringMatching(/^ {2}It continues. Come back with: .*measurements show .*\/m1$/),
  ]);
});
