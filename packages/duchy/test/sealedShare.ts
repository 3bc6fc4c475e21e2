import { sealed, shareContext } from '@measurement-exchange/consent/sealing';

/** Encrypts a share for the worker that receives it, as a provider does. */
export async function sealShare(
  publicKeyset: Uint8Array,
  requisition: string,
  share: Uint8Array,
): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(sealed(publicKeyset, shareContext(requisition), share)));
}
