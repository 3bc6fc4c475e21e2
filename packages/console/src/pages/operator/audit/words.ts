/** Audit entries in words. */
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
  createWebhook: 'Added a webhook',
  updateWebhook: 'Changed a webhook',
  deleteWebhook: 'Deleted a webhook',
  rotateWebhookSecret: 'Made a new secret for a webhook',
};

/** Returns `Suspended a party` for `suspendParty`. Operations without a sentence of their own are split into words. */
export function auditWords(operation: string): string {
  const words = WORDS[operation] ?? wordsOf(operation);
  return words[0]!.toUpperCase() + words.slice(1);
}

/** Returns the party that a resource belongs to, or undefined for a resource of the exchange. */
export function ownerOf(name: string): string | undefined {
  const [collection, id] = name.split('/');
  return /^(measurementConsumers|dataProviders|duchies)$/.test(collection!)
    ? `${collection}/${id}`
    : undefined;
}
