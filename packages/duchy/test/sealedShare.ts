import { sealed, shareContext } from '@measurement-exchange/consent/sealing';

/** A share as it travels: encrypted for the worker that takes it. */
export async function sealShare(
  publicKeyset: Uint8Array,
  requisition: string,
  share: Uint8Array,
): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(sealed(publicKeyset, shareContext(requisition), share)));
}
