/** Text about audit entries. */
import { wordsOf } from '@measurement-exchange/contract';

const WORDS: Record<string, string> = {
  createParty: 'Added a party',
  updateParty: 'Changed a party',
  suspendParty: 'Suspended a party',
  resumeParty: 'Resumed a party',
  createCertificate: 'Registered a certificate',
  revokeCertificate: 'Revoked a certificate',
  releaseCertificateHold: 'Released the hold on a certificate',
  createPrincipal: 'Bound a sign-in',
  deletePrincipal: 'Unbound a sign-in',
  createTrustedRoot: 'Trusted a root',
  deleteTrustedRoot: 'Stopped trusting a root',
  createPopulation: 'Added a population',
  updatePopulation: 'Changed a population',
  createEventGroup: 'Added an event group',
  updateEventGroup: 'Changed an event group',
  deleteEventGroup: 'Deleted an event group',
  createReport: 'Stored a report',
  updateReport: 'Changed a report',
  deleteReport: 'Deleted a report',
  settleReport: 'Noted the new state of a report',
  createWebhook: 'Added a webhook',
  updateWebhook: 'Changed a webhook',
  deleteWebhook: 'Deleted a webhook',
  rotateWebhookSecret: 'Made a new secret for a webhook',
};

/** Converts `suspendParty` to `Suspended a party`. An operation without its own text is split into words. */
export function auditWords(operation: string): string {
  const words = WORDS[operation] ?? wordsOf(operation);
  return words[0]!.toUpperCase() + words.slice(1);
}

export function ownerOf(name: string): string | undefined {
  const [collection, id] = name.split('/');
  return /^(measurementConsumers|dataProviders|duchies)$/.test(collection!)
    ? `${collection}/${id}`
    : undefined;
}
