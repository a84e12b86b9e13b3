import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Person } from '../support/browser/launch-browser.ts'
import { connectWith, startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import { approve, approveButton, countApprovals, heading, openConsent } from '../support/browser/pages.ts'
import { answerPage, formatPage, startSite, type Site } from '../support/browser/site.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo } from '../support/browser/sign-up-over-http.ts'
import type { StorageState } from '../support/browser/context-pool.ts'

const OUTCOME = 'Everything was tried'

/**
 * In these tests, a signed-in person opens pages of other sites. To a browser, `localhost` on another port belongs to
 * the same site as our service. So the browser sends our cookie there, and only the `Origin` header shows the
 * difference (D47).
 */
describe('pages of other sites, in a browser', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  let signedIn: StorageState
  let sites: Readonly<Record<'another origin of our site' | 'another site', Site>>
  /** The HTML of the page that the hostile sites serve. */
  let html = ''

  before(async () => {
    fixture = await openBrowserFixture()
    app = await startClientApp(fixture.host)
    const serve = (host: string) => startSite((_request, response) => answerPage(response, html), { host })
    sites = {
      'another origin of our site': await serve('localhost'),
      'another site': await serve('evil.example'),
    }
    const person = await fixture.enter()
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    signedIn = await person.context.storageState()
  })
  afterEach((t) => fixture.leave(t))
  after(async () => {
    await Promise.all([...Object.values(sites), app].map((server) => server.close()))
  })

  const enterOwner = (options = {}): Promise<Person> => fixture.enter({ storageState: signedIn, ...options })

  /** Opens the consent page of a new authorization request. Returns the request's handle and the page's address. */
  const openRequest = async (page: Page): Promise<{ path: string; handle: string; url: URL }> => {
    const { url } = app.start()
    await openConsent(page, url)
    const opened = new URL(page.url())
    return { path: opened.pathname + opened.search, handle: String(opened.searchParams.get('request')), url }
  }

  for (const name of ['another origin of our site', 'another site'] as const) {
    test(`${name} cannot frame any of our pages`, async () => {
      const { page } = await enterOwner({ faultsExpected: true })
      const { path } = await openRequest(page)
      const framed = [
        '/',
        '/sign-in',
        '/sign-up',
        '/account',
        '/invite/svc_inv_x',
        '/nowhere',
        `/w/${fixture.host.workspace.slug}/test/developers/connections`,
      ]
      for (const address of [path, ...framed, '/oauth/authorize', '/oauth/consent']) {
        html = formatPage('Framed', `<iframe src="${fixture.host.authUrl}${address}"></iframe>`)
        await page.goto(sites[name].origin)
        const [frame] = page.frames().filter((candidate) => candidate !== page.mainFrame())
        assert.ok(frame !== undefined, address)
        assert.equal(frame.url(), 'chrome-error://chromewebdata/', address)
      }
      // Shows that this browser displays frames if they are allowed.
      html = formatPage('Framed', `<iframe src="${app.origin}/callback"></iframe>`)
      await page.goto(sites[name].origin)
      await page.frameLocator('iframe').getByRole('heading').waitFor()
    })

    test(`${name} cannot approve by posting the consent form`, async () => {
      const { page } = await enterOwner()
      const { handle, path } = await openRequest(page)
      const approvals = await countApprovals(page, fixture.host.workspace.slug)
      const callbacks = app.callbacks.length
      const workspace = fixture.host.workspace.slug
      const fields = { request: handle, decision: 'approve', workspace, mode: 'test', agent_id: 'demo-agent' }
      html = formatPage('Win a prize', formatForm(`${fixture.host.authUrl}/oauth/consent`, fields))
      await page.goto(sites[name].origin)
      await page.waitForURL(`${fixture.host.authUrl}/**`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals)
      assert.equal(app.callbacks.length, callbacks)

      // The attack has not changed the request: the person can still decide.
      await page.goto(path)
      await approve(page)
      await page.waitForURL((url) => url.origin === app.origin)
      assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals + 1)
    })

    test(`${name} cannot change anything with requests that carry the person's cookie`, async () => {
      const { page } = await enterOwner({ faultsExpected: true })
      const { path } = await openRequest(page)
      const handle = new URLSearchParams(path.split('?')[1]).get('request')
      const { slug } = fixture.host.workspace
      const before = await readState(page, slug)
      const form = `request=${String(handle)}&decision=approve&workspace=${slug}&mode=test&agent_id=demo-agent`
      const attempts = [
        ['POST', '/console/sign-out', '{}'],
        ['POST', '/console/workspaces', '{"name":"Evil"}'],
        ['POST', `/console/workspaces/${fixture.host.workspace.slug}/agents`, '{"mode":"test","id":"evil"}'],
        ['POST', `/console/workspaces/${fixture.host.workspace.slug}/invitations`, '{"role":"owner"}'],
        ['POST', '/console/recovery-codes', '{}'],
        ['POST', '/oauth/consent', form],
      ]
      html = formatPage('Quiet requests', formatRequests(fixture.host.authUrl, attempts))
      await page.goto(sites[name].origin)
      await heading(page, OUTCOME).waitFor()
      const read = await page.getByRole('listitem').allInnerTexts()
      assert.equal(read.length, attempts.length * 2)
      assert.deepEqual([...new Set(read)], ['nothing to read'])
      assert.deepEqual(await readState(page, slug), before)
      await page.goto(path)
      await approve(page)
      await page.waitForURL((url) => url.origin === app.origin)
    })

    test(`${name} cannot sign the person out with a form`, async () => {
      const { page } = await enterOwner()
      html = formatPage('Bye', formatForm(`${fixture.host.authUrl}/console/sign-out`, {}))
      await page.goto(sites[name].origin)
      await page.waitForURL(`${fixture.host.authUrl}/**`)
      await page.goto('/account')
      await heading(page, 'Your account').waitFor()
    })
  }

  test('a link on another site leads a signed-in person to the consent page, because the cookie is sent along', async () => {
    const { page } = await enterOwner()
    const authorization = app.start()
    html = formatPage('An application', `<a href="${authorization.url.href.replaceAll('&', '&amp;')}">Connect</a>`)
    await page.goto(sites['another site'].origin)
    await page.getByRole('link', { name: 'Connect' }).click()
    await approve(page)
    await page.waitForURL((url) => url.origin === app.origin)
    await connectWith(fixture.host, authorization, new URL(page.url()))
  })

  test('an application may open our page in a separate window, gets its response there, and cannot read our page', async () => {
    const { page, context } = await enterOwner()
    const authorization = app.start()
    const script = `addEventListener('click', () => { opened = open(${JSON.stringify(authorization.url.href)}) })`
    html = formatPage('An application', `<script>${script}</script>`)
    await page.goto(sites['another site'].origin)
    const popup = context.waitForEvent('page')
    await page.getByRole('heading').click()
    const opened = await popup
    await approveButton(opened)
    const reach = `(() => { try { return opened.document.title } catch (error) { return error.name } })()`
    assert.equal(await page.evaluate(reach), 'SecurityError')
    await approve(opened)
    await opened.waitForURL((url) => url.origin === app.origin)
    assert.equal(await opened.evaluate('window.opener !== null'), true)
    await connectWith(fixture.host, authorization, new URL(opened.url()))
  })

  test("an application's name is shown as text, whatever it contains, and cannot look like another part of the page", async () => {
    const { page } = await enterOwner()
    const name = '<img src=x onerror=alert(1)> “Bursar” &amp; <b>Support</b>'
    const odd = await startClientApp(fixture.host, { name })
    try {
      await openConsent(page, odd.start().url)
      await page.getByText(`It calls itself “${name}”`).waitFor()
      assert.equal(await page.getByRole('img').count(), 0)
    } finally {
      await odd.close()
    }
  })

  test('an invalid request shows an error page, and none of its values is run as a script', async () => {
    const { page } = await enterOwner()
    await page.goto(`/oauth/authorize?client_id=${encodeURIComponent('"><script>alert(1)</script>')}`)
    await heading(page, 'The application could not be connected').waitFor()
    await page.goto('/oauth/authorize?client_id=a&client_id=b')
    await heading(page, 'The application could not be connected').waitFor()
  })
})

/** Reads everything about a person that an attacker could read, change or end. */
async function readState(page: Page, slug: string): Promise<unknown> {
  const read = async (path: string): Promise<unknown> => {
    const response = await page.request.get(`/console${path}`)
    assert.equal(response.status(), 200, path)
    return await response.json()
  }
  const paths = [
    '/session',
    `/workspaces/${slug}/agents?mode=test`,
    `/workspaces/${slug}/invitations`,
    `/workspaces/${slug}/audit`,
  ]
  return await Promise.all(paths.map(read))
}

/** Returns a page with a form that is submitted automatically. */
function formatForm(action: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
  return `<form method="post" action="${action}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`
}

/**
 * Returns a page that sends each request twice. As plain text, the request needs no CORS preflight. As JSON, it needs
 * one.
 */
function formatRequests(origin: string, attempts: readonly (readonly string[])[]): string {
  return `<ul></ul><script type="module">
    const list = document.querySelector('ul')
    for (const [method, path, body] of ${JSON.stringify(attempts)}) {
      const type = path.startsWith('/oauth') ? 'application/x-www-form-urlencoded' : 'text/plain'
      for (const change of [{ mode: 'no-cors', headers: { 'content-type': type } }, { headers: { 'content-type': 'application/json' } }]) {
        const item = document.createElement('li')
        const request = fetch('${origin}' + path, { method, body, credentials: 'include', ...change })
        item.textContent = await request.then((answer) => answer.text()).then((text) => text === '' ? 'nothing to read' : text, () => 'nothing to read')
        list.append(item)
      }
    }
    document.querySelector('h1').textContent = '${OUTCOME}'
  </script>`
}
