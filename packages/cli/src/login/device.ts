/** Signs in with a browser on another machine, where the user enters a code (RFC 8628). */
import { asking, IssuerError, loadOpenId, type Tokens } from '../signIn/openId.ts';
import { tokensOf } from '../signIn/refresh.ts';
import { note, visible } from '../terminal/output.ts';
import type { FlowOptions } from './browser.ts';

export async function signInWithCode({
  client,
  config,
  scope,
  timeoutSeconds,
}: FlowOptions): Promise<Tokens> {
  if (config.serverMetadata().device_authorization_endpoint === undefined) {
    throw new Error(`${client.issuer} has no login by device code: run mex login without --device.`);
  }
  const openId = await loadOpenId();
  const device = await asking(client, [], () => openId.initiateDeviceAuthorization(config, { scope }));
  const { verification_uri, verification_uri_complete, user_code, expires_in } = device;
  note(
    `Sign in at this address with any browser:\n  ${visible(verification_uri_complete ?? verification_uri)}`,
  );
  note(`and compare or enter the code ${visible(user_code)}`);
  const seconds = Math.min(timeoutSeconds, expires_in);
  const signal = AbortSignal.timeout(seconds * 1000);
  const poll = () => openId.pollDeviceAuthorizationGrant(config, device, undefined, { signal });
  const response = await asking(client, [device.device_code], poll).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new IssuerError(`The login timed out after ${seconds} s: run mex login --device again.`);
  });
  return tokensOf(response, client);
}
