/** Lets the operator of an exchange add a party. Runs in Node and in browsers. */
export {
  type CertificateFacts,
  describeCertificate,
  isFingerprint,
  isSameFingerprint,
} from './fingerprint.ts';
export { type Onboarding, type OnboardingOptions, type OnboardingPiece, onboard } from './onboard.ts';
export { type PartyFile, PartyFileError, parsePartyFile, publicKeyJson, signedKey } from './partyFile.ts';
