/** The settings with which an agent or a duchy gets tokens from an OpenID issuer. */
import { object, optional, type Static, text } from '@measurement-exchange/contract/schema';

const string = () => text(4096, 1);

export const SignIn = object({
  issuer: string(),
  clientId: string(),
  /** The path of a file that contains only the client's secret. The file is read again for each token request. */
  clientSecretFile: string(),
  /** Optional parameters of the token request. Some issuers require them. */
  scope: optional(string()),
  audience: optional(string()),
  resource: optional(string()),
});
export type SignIn = Static<typeof SignIn>;
