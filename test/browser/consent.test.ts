import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { CALLBACK_TITLE, connectWith, readCode, startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import { exchangeCode } from '../support/sandbox/oauth-client.ts'
import {
  approve,
  approveButton,
  button,
  consentHeading,
  countApprovals,
  deny,
  heading,
  openConsent,
} from '../support/browser/pages.ts'
import { expectOneLine } from '../support/browser/expect-one-line.ts'
import { answerPage, formatPage, startSite } from '../support/browser/site.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo } from '../support/browser/sign-up-over-http.ts'
import type { StorageState } from '../support/browser/context-pool.ts'

describe('deciding on an application, in a browser', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  let signedIn: StorageState
  before(async () => {
    fixture = await openBrowserFixture()
    app = await startClientApp(fixture.host, { name: 'Robot Desk' })
    const person = await fixture.enter()
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    signedIn = await person.context.storageState()
  })
  afterEach((t) => fixture.leave(t))
  after(async () => {
    await app.close()
  })

  /** Opens a browser in which an owner of the sandbox's workspace is signed in. */
  const enterOwner = async (): Promise<Page> =>
    (await fixture.enter({ storageState: signedIn, ignoreHTTPSErrors: true })).page
  const arrive = async (page: Page, origin = app.origin): Promise<URL> => {
    await page.waitForURL((url) => url.origin === origin)
    return new URL(page.url())
  }

  test('an approval reaches a callback on loopback, with a code that can be exchanged for a token', async () => {
    const page = await enterOwner()
    const authorization = app.start()
    await openConsent(page, authorization.url)
    const host = new URL(app.origin).host
    await page
      .getByRole('heading', { name: `An application on this computer (${host}) wants to act for you` })
      .waitFor()
    await expectOneLine(page, page.getByText(`(${host})`, { exact: true }))
    await page.getByText('It calls itself “Robot Desk”').waitFor()
    await page.getByText('You are signed in as Ada Lovelace').waitFor()
    await approve(page)
    const callback = await arrive(page)
    await heading(page, CALLBACK_TITLE).waitFor()
    assert.deepEqual(
      app.callbacks.filter(({ searchParams }) => searchParams.get('state') === authorization.state),
      [callback],
    )
    assert.equal(app.referrers.at(-1), undefined, 'the address of our page stays with us')
    const { tokens, me } = await connectWith(fixture.host, authorization, callback)
    assert.equal(tokens.scope, 'wallet:read wallet:transfer')
    assert.equal(me.account_slug, fixture.host.workspace.slug)
    assert.equal(me.agent_id, 'demo-agent')
    assert.equal(me.mode, 'test')
  })

  test('an application with a metadata document is shown by the host of the document, never by its name', async () => {
    const page = await enterOwner()
    // The sandbox cannot publish a document over https, so the test adds the host of a document to the response.
    await page.route('**/console/authorization-requests/*', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { request: { client: object } }
      const client = { ...body.request.client, document_host: 'agents.example' }
      await route.fulfill({ response, json: { request: { ...body.request, client } } })
    })
    await openConsent(page, app.start().url)
    await page.getByRole('heading', { name: 'agents.example wants to act for you' }).waitFor()
    const { host } = new URL(app.origin)
    await page.getByText(`this browser goes to a program on this computer, at ${host}`).waitFor()
    await expectOneLine(page, page.getByRole('strong').filter({ hasText: host }))
    await page.getByText('Any program on this computer can send this request').waitFor()
    assert.equal(await page.getByText('Robot Desk').count(), 0)
  })

  test('an approval reaches an https callback', async () => {
    const page = await enterOwner()
    const web = await startClientApp(fixture.host, { host: 'client.example' })
    try {
      const authorization = web.start()
      await openConsent(page, authorization.url)
      const { host } = new URL(web.origin)
      await page.getByRole('heading', { name: `${host} wants to act for you`, exact: true }).waitFor()
      assert.equal(await page.getByText('on this computer').count(), 0)
      await approve(page)
      const callback = await arrive(page, web.origin)
      await heading(page, CALLBACK_TITLE).waitFor()
      assert.deepEqual(web.callbacks, [callback])
      assert.deepEqual(web.referrers, [undefined])
      await connectWith(fixture.host, authorization, callback)
    } finally {
      await web.close()
    }
  })

  test('a callback may redirect the browser to a third site', async () => {
    const page = await enterOwner()
    const third = await startSite((_request, response) => answerPage(response, formatPage('Opened on the desktop')), {
      host: 'desktop.example',
    })
    const bouncing = await startClientApp(fixture.host, { sendsOnTo: `${third.origin}/opened` })
    try {
      const authorization = bouncing.start()
      await openConsent(page, authorization.url)
      await approve(page)
      await heading(page, 'Opened on the desktop').waitFor()
      assert.equal(page.url(), `${third.origin}/opened`)
      const [callback, ...others] = bouncing.callbacks
      assert.ok(callback !== undefined)
      assert.deepEqual(others, [])
      await connectWith(fixture.host, authorization, callback)
    } finally {
      await bouncing.close()
      await third.close()
    }
  })

  test('a denial reaches the callback as access_denied, and connects nobody', async () => {
    const page = await enterOwner()
    const approvals = await countApprovals(page, fixture.host.workspace.slug)
    const { url, state } = app.start()
    await openConsent(page, url)
    await deny(page)
    const { searchParams } = await arrive(page)
    const answer = { error: 'access_denied', state, iss: fixture.host.authUrl }
    assert.deepEqual(Object.fromEntries(searchParams), answer)
    assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals)
  })

  for (const [decision, press] of [
    ['an approval', approve],
    ['a denial', deny],
  ] as const) {
    test(`after ${decision}, going back shows that the request was decided, and makes no other code`, async () => {
      const page = await enterOwner()
      const authorization = app.start()
      await openConsent(page, authorization.url)
      await press(page)
      await arrive(page)
      const approvals = await countApprovals(page, fixture.host.workspace.slug)
      await page.goBack()
      await heading(page, 'This request was already answered').waitFor()
      assert.equal(await page.getByRole('button', { name: /^(Approve|Deny)$/ }).count(), 0)
      await page.reload()
      await heading(page, 'This request was already answered').waitFor()
      assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals)
      assert.equal(countCallbacks(app, authorization.state), 1)
    })
  }

  for (const [name, again] of [
    ['another click', (page: Page, { approve }: Spots) => page.mouse.click(...approve)],
    ['a click on Deny', (page: Page, { deny }: Spots) => page.mouse.click(...deny)],
    ['Enter', (page: Page) => page.keyboard.press('Enter')],
  ] as const) {
    test(`a double click on Approve, and ${name} while the response is on its way, make one decision`, async () => {
      const page = await enterOwner()
      const approvals = await countApprovals(page, fixture.host.workspace.slug)
      const authorization = app.start()
      await openConsent(page, authorization.url)
      await (await approveButton(page)).scrollIntoViewIfNeeded()
      const spots = { approve: await findSpot(page, 'Approve'), deny: await findSpot(page, 'Deny') }
      let forms = 0
      const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route('**/oauth/consent', async (route) => {
        forms += 1
        sent.resolve()
        await released.promise
        await route.continue()
      })
      await page.mouse.dblclick(...spots.approve)
      await sent.promise
      await again(page, spots)
      released.resolve()
      const callback = await arrive(page)
      await heading(page, CALLBACK_TITLE).waitFor()
      assert.equal(forms, 1)
      assert.equal(countCallbacks(app, authorization.state), 1)
      await connectWith(fixture.host, authorization, callback)
      assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals + 1)
    })
  }

  test('a request that is open in two tabs is decided once, and the other tab shows that', async () => {
    const page = await enterOwner()
    const approvals = await countApprovals(page, fixture.host.workspace.slug)
    const authorization = app.start()
    await openConsent(page, authorization.url)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await consentHeading(other).waitFor()
    await Promise.all([approve(page), approve(other)])

    const told = (tab: Page) => tab.getByRole('main').getByText(/already answered|answered already/)
    const outcomes = await Promise.all(
      [page, other].map(async (tab) => {
        await heading(tab, CALLBACK_TITLE).or(told(tab)).first().waitFor()
        return (await heading(tab, CALLBACK_TITLE).count()) === 1 ? 'connected' : 'told'
      }),
    )
    assert.deepEqual(outcomes.toSorted(), ['connected', 'told'])
    const loser = outcomes[0] === 'told' ? page : other
    assert.equal(await loser.getByText('Nothing was connected').count(), 0, 'it was, by the other tab')
    assert.equal(countCallbacks(app, authorization.state), 1)
    assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals + 1)
    const winner = outcomes[0] === 'told' ? other : page
    await connectWith(fixture.host, authorization, new URL(winner.url()))
  })

  test('two requests in two tabs with different agents make two connections, each with its own agent', async () => {
    const page = await enterOwner()
    await page.request.post(`/console/workspaces/${fixture.host.workspace.slug}/agents`, {
      data: { mode: 'live', id: 'live-agent' },
      headers: { Origin: fixture.host.authUrl },
    })
    const [one, two] = [app.start({ agent_id: 'demo-agent' }), app.start({ scope: 'wallet:read' })]
    const other = await page.context().newPage()
    await openConsent(page, one.url)
    await openConsent(other, two.url)
    await other.getByRole('radio', { name: /^Live/ }).check()
    await other.getByLabel('Agent', { exact: true }).selectOption('live-agent')
    await approve(other)
    await approve(page)
    const [first, second] = [await arrive(page), await arrive(other)]
    const [a, b] = [await connectWith(fixture.host, one, first), await connectWith(fixture.host, two, second)]
    assert.deepEqual(
      [a.me.agent_id, a.me.mode, a.me.scopes],
      ['demo-agent', 'test', ['wallet:read', 'wallet:transfer']],
    )
    assert.deepEqual([b.me.agent_id, b.me.mode, b.me.scopes], ['live-agent', 'live', ['wallet:read']])
    const mixed = await exchangeCode(fixture.host, one, readCode(fixture.host, two, second))
    assert.equal(mixed.error, 'invalid_grant')
  })
})

type Spot = readonly [x: number, y: number]

interface Spots {
  readonly approve: Spot
  readonly deny: Spot
}

/** Returns the middle of a button, so that the test can click there even if the button is disabled. */
async function findSpot(page: Page, name: string): Promise<Spot> {
  const box = await button(page, name).boundingBox()
  assert.ok(box !== null)
  return [box.x + box.width / 2, box.y + box.height / 2]
}

function countCallbacks({ callbacks }: ClientApp, state: string): number {
  return callbacks.filter(({ searchParams }) => searchParams.get('state') === state).length
}
