import { setTimeout as sleep } from 'node:timers/promises';
import { isCascading } from '../../database/revocationCascades.ts';
import { partyOf } from '../../domain/access.ts';
import { releaseHold } from '../../domain/certificate.ts';
import type { Handler } from '../context.ts';
import { changeCertificate } from './change.ts';

/**
 * The maximum time that a request waits for measurements to fail. A hold can be released only after all measurements
 * that depend on the certificate have failed, which usually takes only milliseconds.
 */
const CASCADE_WAIT_MS = 2_000;
const CASCADE_POLL_MS = 20;

export const releaseCertificateHold: Handler<'releaseCertificateHold'> = async (exchange, call, request) => {
  const { certificate } = request.params;
  const until = performance.now() + CASCADE_WAIT_MS;
  while ((await isCascading(exchange.db, partyOf(request.path), certificate)) && performance.now() < until) {
    await sleep(CASCADE_POLL_MS);
  }
  return changeCertificate('releaseCertificateHold', exchange, call, request, async (tx, before) => ({
    after: releaseHold(before, await isCascading(tx, before.party, before.id)),
  }));
};
