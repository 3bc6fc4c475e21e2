/** Settings with which an agent or a duchy signs in at an OpenID issuer, using a client ID and a client secret. */
import { object, optional, type Static, text } from '@measurement-exchange/contract/schema';

const string = () => text(4096, 1);

export const SignIn = object({
  /** The issuer's address, which its tokens contain as `iss`. */
  issuer: string(),
  clientId: string(),
  /** A file that contains only the client's secret. It is reread whenever a token is requested. */
  clientSecretFile: string(),
  /** Optional parameters of the token request. Some issuers require some of them. */
  scope: optional(string()),
  audience: optional(string()),
  resource: optional(string()),
});
export type SignIn = Static<typeof SignIn>;
