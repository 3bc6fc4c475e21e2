/** Verifies a signed message in a file against a certificate. */
import {
  Checklist,
  checkSignature,
  createTrustStore,
  DoesNotHold,
  parseCertificate,
  unpackSignedMessage,
  type VerificationStep,
  type X509,
} from '@measurement-exchange/sdk';
import { readBytes } from '../files/input.ts';

export async function verifyFile(
  file: string,
  { certificate, root }: { certificate: string; root?: string[] },
  onStep: (step: VerificationStep) => void,
): Promise<VerificationStep[]> {
  const list = new Checklist(onStep);
  const bytes = await readBytes(file, 'a SignedMessage');
  const der = pemOrDer(await readBytes(certificate, 'a certificate in PEM or DER'));
  const x509 = await list.check('the certificate can be read', () => {
    const read = parseCertificate(der);
    return { value: read, detail: `${read.subject}, until ${read.notAfter.toISOString().slice(0, 10)}` };
  });
  if (root === undefined) await checkDates(list, x509);
  else await checkChain(list, der, root, x509);
  const signed = await list.check('the message can be read', () => {
    const read = unpackSignedMessage(trimmed(bytes));
    return {
      value: read,
      detail: `${read.message.length} bytes${read.typeUrl ? ` of ${read.typeUrl}` : ''}`,
    };
  });
  await checkSignature(list, 'the message', signed, x509);
  return list.steps;
}

/** Removes the whitespace before JSON, because `unpackSignedMessage` recognizes JSON by its first byte. */
function trimmed(bytes: Buffer): Uint8Array {
  const start = bytes.findIndex((byte) => ![0x20, 9, 10, 13].includes(byte));
  return bytes[start] === 0x7b ? bytes.subarray(start) : bytes;
}

function pemOrDer(bytes: Buffer): Uint8Array {
  const block = /-----BEGIN CERTIFICATE-----([^-]*)-----END/.exec(bytes.toString('latin1'))?.[1];
  return block === undefined ? bytes : Buffer.from(block, 'base64');
}

async function checkDates(list: Checklist, x509: X509 | undefined): Promise<void> {
  await list.checkWith('the certificate is valid today (its root is not checked: --root)', [x509], (x509) => {
    const now = new Date();
    if (now < x509.notBefore || now > x509.notAfter) throw new DoesNotHold('it is outside its dates');
    return { value: true };
  });
}

async function checkChain(
  list: Checklist,
  der: Uint8Array,
  roots: string[],
  x509: X509 | undefined,
): Promise<void> {
  const pems = await Promise.all(roots.map((file) => readBytes(file, 'a root certificate in PEM')));
  await list.check('the certificate is valid and chains to the root', async () => {
    // Accept a certificate of any party, because the user chose both the certificate and the roots.
    const party = x509?.parties[0] ?? '';
    const trust = createTrustStore(pems.map((pem) => ({ party, pem: pem.toString() })));
    return { value: await trust.verify(party, der, new Date()) };
  });
}
