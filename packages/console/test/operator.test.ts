import { createIdentity } from '@measurement-exchange/sdk/identity';
import { describeCertificate, publicKeyJson } from '@measurement-exchange/sdk/onboarding';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';

const c = useConsole();

const NAME = 'dataProviders/lakeside';
/** A name that tries to run a script and to reverse the text after it. */
const HOSTILE = `<img src=x onerror="document.title='broken'">\u202eLakeside ${'x'.repeat(180)}`;

async function partyFile(name: string, displayName: string) {
  const identity = await createIdentity({ party: name, commonName: 'Lakeside', now: Date.now(), days: 400 });
  const { certificatePem, root, publicKey } = identity;
  const json = {
    name,
    displayName,
    certificatePem,
    rootPem: root.certificatePem,
    publicKey: publicKeyJson(publicKey),
  };
  return { text: JSON.stringify(json), fingerprint: (await describeCertificate(certificatePem)).fingerprint };
}

async function stateOf(name: string): Promise<string> {
  const { json } = await c.exchange.call(c.exchange.dev.operator.token, 'GET', `/v2alpha/${name}`);
  return json.state ?? json.error.status;
}

const confirm = async (page: Page, verb: string) => {
  await page.getByRole('dialog').getByRole('button', { name: verb }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

it.skipIf(lacksChromium)(
  'the operator adds a party in one form, suspends it, and finds it in the log',
  async () => {
    const [lakeside, mallory] = await Promise.all([partyFile(NAME, HOSTILE), partyFile(NAME, 'Lakeside')]);
    const { page, errors } = await c.open('operator', { path: '/parties/add' });
    const field = page.getByLabel('SHA-256 fingerprint');
    const add = page.getByRole('button', { name: 'Add party' });

    // Enter a file that is not a party file, and then a party file that a man in the middle has replaced.
    await page.getByLabel('Party file').fill('{"name": "dataProviders/lakeside"}');
    await page.getByText('This file cannot be used').waitFor();
    await page.getByLabel('Party file').fill(mallory.text);
    expect(await field.inputValue()).toBe('');
    expect(await page.locator('#main').textContent()).not.toContain(mallory.fingerprint);
    await page.getByLabel('Issuer of its tokens').fill('https://id.example.com');
    await page.getByLabel('Subject of its tokens').fill('lakeside');
    await field.fill(lakeside.fingerprint);
    await page.getByText('this is another certificate').waitFor();
    expect(await add.isDisabled()).toBe(true);
    await field.press('Enter');
    expect(await stateOf(NAME)).toBe('NOT_FOUND');

    await page.getByRole('button', { name: 'Another file' }).click();
    await page.getByLabel('Party file').fill(lakeside.text);
    await field.fill(lakeside.fingerprint.toLowerCase().replaceAll(':', ' '));
    await page.getByText('The same as the certificate').waitFor();
    expect(await add.isDisabled()).toBe(true);
    await page.getByLabel('Issuer of its tokens').fill('https://id.example.com');
    await page.getByLabel('Subject of its tokens').fill('lakeside');
    await add.click();
    await page.getByRole('heading', { level: 1, name: 'is on board' }).waitFor();
    expect(await stateOf(NAME)).toBe('ACTIVE');

    await page.getByRole('link', { name: 'Open the party' }).click();
    await page.getByText(lakeside.fingerprint).waitFor();
    await page.getByRole('cell', { name: 'https://id.example.com' }).waitFor();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('No new measurement may name it').waitFor();
    await confirm(page, 'Suspend party');
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    expect(await stateOf(NAME)).toBe('SUSPENDED');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await confirm(page, 'Resume party');
    await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor();
    expect(await stateOf(NAME)).toBe('ACTIVE');

    await page.getByRole('link', { name: 'Search the log' }).click();
    await page.getByLabel('Change', { exact: true }).selectOption({ label: 'Suspended a party' });
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      name: NAME,
      what: 'suspendParty',
    });
    expect(await page.locator('.log-row').count()).toBe(1);

    // The list of parties shows the hostile name as plain text.
    await page.goto(new URL('/parties?find=lakeside', page.url()).href);
    const row = page.getByRole('row').filter({ hasText: NAME });
    expect(await row.locator('bdi').first().textContent()).toBe(HOSTILE);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).not.toBe('broken');
    // Before the page adds a party, it asks whether the party exists, and gets a 404.
    expect(errors).toEqual([expect.stringContaining('404')]);
  },
);

it.skipIf(lacksChromium)('the operator binds sign-ins, trusts roots, and registers populations', async () => {
  const { page, errors } = await c.open('operator', { path: '/principals?bind=dataProviders/streamly' });
  await page.getByLabel('Issuer', { exact: true }).fill('https://id.example.com');
  await page.getByLabel('Subject', { exact: true }).fill('second-of-streamly');
  await page.getByRole('button', { name: 'Bind sign-in' }).click();
  await page.getByText('second-of-streamly speaks for dataProviders/streamly.').waitFor();
  await page.getByRole('button', { name: 'Unbind second-of-streamly' }).click();
  await confirm(page, 'Unbind sign-in');
  await page.getByRole('button', { name: 'Unbind second-of-streamly' }).waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Trusted roots' }).first().click();
  const { root } = await createIdentity({ commonName: 'Elsewhere', now: Date.now(), days: 30 });
  await page.getByLabel('Root certificate').fill(root.certificatePem);
  await page.getByLabel('Trusted for').selectOption('dataProviders/streamly');
  const { fingerprint } = await describeCertificate(root.certificatePem);
  await page.getByLabel('SHA-256 fingerprint').fill(fingerprint);
  await page.getByRole('button', { name: 'Trust root' }).click();
  await page.getByText('The root is trusted.').waitFor();
  await page.getByRole('button', { name: 'Remove Elsewhere root' }).click();
  await page.getByRole('dialog').getByText('then').first().waitFor();
  await confirm(page, 'Remove root');
  await page.getByText('Elsewhere root').waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Populations' }).first().click();
  await page.getByLabel('Display name').fill('Grown-ups');
  await page.getByLabel('ID', { exact: true }).fill('grown-ups');
  await page.getByLabel('Ranges of VIDs').fill('1-5\n3-9');
  await page.getByRole('button', { name: 'Register population' }).click();
  await page.getByText('1-5 and 3-9 overlap.').waitFor();
  await page.getByLabel('Ranges of VIDs').fill('1-1000\n2001-3000');
  await page.getByRole('button', { name: 'Register population' }).click();
  await page.getByRole('row').filter({ hasText: 'populations/grown-ups' }).getByText('2,000').waitFor();
  await page.getByRole('button', { name: 'Change Grown-ups' }).click();
  await page.getByLabel('Model lines').fill('line-7');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('cell', { name: 'line-7' }).waitFor();
  expect(errors).toEqual([]);
});

it.skipIf(lacksChromium)('the operator runs the doctor in the console that the exchange serves', async () => {
  const { page, errors } = await c.openAtExchange('Operator', { path: '/doctor' });
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText(/^\d+ checks passed$/).waitFor();
  await page.getByRole('link', { name: 'Replicas' }).first().click();
  await page.getByText('Seen within the last 3 minutes').waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByRole('link', { name: 'Overview' }).first().click();
  await page.getByText('Open measurements').waitFor();
  expect(errors).toEqual([]);
});
