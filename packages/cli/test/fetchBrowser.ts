/** A simulated browser, built on fetch: follows redirects, keeps cookies, and fills in the OpenID provider's forms. */

export interface Visit {
  /** The address of the last page. */
  url: string;
  status: number;
  text: string;
}

interface User {
  name: string;
  /**
   * If true, the user denies the login: when a page has a link that ends the login, the user follows the link instead
   * of filling in the form.
   */
  denies?: boolean;
}

/** Visits an address, follows its redirects and submits its forms until a page has no form. */
export async function browse(address: string, user: User): Promise<Visit> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  let init: RequestInit = {};
  for (let step = 0; step < 30; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    const next = location === null ? formOf(text, user) : { action: location };
    if (next === undefined) return { url: url.href, status: response.status, text };
    url = new URL(next.action, url);
    init = next.body === undefined ? {} : { method: 'POST', body: next.body };
  }
  throw new Error(`The browser is sent around in circles, at ${url.href}.`);
}

function formOf(html: string, user: User): { action: string; body?: URLSearchParams } | undefined {
  const abort = /href="([^"]+\/abort)"/.exec(html);
  if (user.denies && abort) return { action: abort[1]! };
  const form = /<form[^>]*\baction="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(html);
  if (form === null) return undefined;
  const body = new URLSearchParams();
  for (const [input] of form[2]!.matchAll(/<input[^>]*>/g)) {
    const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1];
    const name = attribute('name');
    if (name !== undefined) body.set(name, attribute('value') ?? user.name);
  }
  return { action: form[1]!, body };
}
