export { type Checked, Checklist, DoesNotHold, type VerificationStep } from './checklist.ts';
export { checkSignature, TYPE_WORDS, type Verifier } from './checks.ts';
