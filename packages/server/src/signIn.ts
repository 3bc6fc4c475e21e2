/** The settings by which an agent or a duchy signs in at an OpenID issuer, as a client with a secret. */
import { object, optional, type Static, text } from '@measurement-exchange/contract/schema';

const string = () => text(4096, 1);

export const SignIn = object({
  /** The issuer's address, which its tokens contain as `iss`. */
  issuer: string(),
  clientId: string(),
  /** A file that contains only the client's secret. It is reread whenever a token is requested. */
  clientSecretFile: string(),
  /** Parameters of the token request. Which of them an issuer needs differs from issuer to issuer. */
  scope: optional(string()),
  audience: optional(string()),
  resource: optional(string()),
});
export type SignIn = Static<typeof SignIn>;
