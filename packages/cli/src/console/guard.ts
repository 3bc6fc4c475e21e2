/**
 * Rejects requests that do not come from the console's own page. Other pages in the same browser and other users of the
 * machine can also reach the console's port. Therefore, a browser must first open a one-time link, which gives it a
 * session cookie.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

export const OPEN_PATH = '/open';
const COOKIE = 'mex-console';
const SECRET_BYTES = 32;

const digest = (secret: string) => createHash('sha256').update(secret).digest('base64');
const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url');

export class Guard {
  private readonly origin: URL;
  /** All one-time links that this process has created, keyed by the hash of the token in the link. */
  private readonly links = new Map<string, { used: boolean }>();
  /** Hashes of the session secrets in cookies. */
  private readonly sessions = new Set<string>();

  /** `origin` is the address at which browsers open the console. */
  constructor(origin: string) {
    this.origin = new URL(origin);
  }

  /** Returns a link that works only once, so that it can open the console in only one browser. */
  newLink(): string {
    const token = newSecret();
    this.links.set(digest(token), { used: false });
    return `${this.origin.origin}${OPEN_PATH}?token=${token}`;
  }

  /** Throws if the request is for another host, or comes from another page. */
  checkOrigin({ headers }: IncomingMessage): void {
    const { host, origin, 'sec-fetch-site': site } = headers;
    if (host !== this.origin.host) {
      throw new Refusal(403, 'FOREIGN_HOST', `This console answers only at ${this.origin.origin}.`);
    }
    const isForeign = origin !== undefined && origin !== this.origin.origin;
    if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
      throw new Refusal(
        403,
        'FOREIGN_ORIGIN',
        'Another page made this request. The console answers only its own page.',
      );
    }
  }

  /** Returns a session cookie for the token of a link. Throws if the link is unknown or was already used. */
  open(token: string | null): string {
    const link = token === null ? undefined : this.links.get(digest(token));
    if (link === undefined || link.used) {
      throw new Refusal(
        403,
        link ? 'LINK_USED' : 'LINK_UNKNOWN',
        link
          ? 'This link was used already. If it was not you, stop mex console. Press Enter there for a new link.'
          : 'This is not a link of this console. Open the link that mex console printed.',
      );
    }
    link.used = true;
    const secret = newSecret();
    this.sessions.add(digest(secret));
    return `${COOKIE}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Throws unless the request has a session cookie, which a browser gets when it opens a one-time link. */
  checkCookie({ headers }: IncomingMessage): void {
    const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
    const secrets = cookies
      .filter((cookie) => cookie.startsWith(`${COOKIE}=`))
      .map((cookie) => cookie.slice(COOKIE.length + 1));
    if (secrets.some((secret) => this.sessions.has(digest(secret)))) return;
    throw new Refusal(
      401,
      'NO_SESSION',
      'This browser has not opened the console. Open the link that mex console printed; press Enter there for a new one.',
    );
  }
}
