import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { openPerson } from '../support/browser/launch-browser.ts'
import { explainFailure } from '../support/browser/page-history.ts'
import { answerPage, formatPage, startSite } from '../support/browser/site.ts'

const HEAD = '<html lang="en"><title>A page</title><meta name="viewport" content="width=device-width">'
const GOOD = `${HEAD}<style>:root { color-scheme: light dark }</style><main><h1>A page</h1><p>With words.</p></main>`

describe('the inspection of a page', () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })

  const faults: readonly (readonly [name: string, html: string, told: RegExp])[] = [
    [
      'a picture without a description',
      GOOD.replace('</main>', '<img src="data:,"></main>'),
      /image-alt.*light, at 1280/s,
    ],
    [
      'text that is hard to read in the dark theme',
      GOOD.replace('</style>', '@media (prefers-color-scheme: dark) { p { color: #333; background: #111 } }</style>'),
      /color-contrast.*dark, at 1280/s,
    ],
    [
      'text that is hard to read only at the end of a slow change to the dark theme',
      GOOD.replace(
        '</style>',
        'p { background: #111; color: #fff; transition: color 60s } @media (prefers-color-scheme: dark) { p { color: #333 } }</style>',
      ),
      /color-contrast.*dark, at 1280/s,
    ],
    [
      'text that is hard to read on a phone in the dark theme',
      GOOD.replace(
        '</style>',
        '@media (prefers-color-scheme: dark) and (width < 400px) { p { color: #333; background: #111 } }</style>',
      ),
      /color-contrast.*dark, at 375/s,
    ],
    [
      'a page that is wider than a small phone',
      GOOD.replace('</main>', '<p style="width: 330px">x</p></main>'),
      /scrolls sideways at 320/,
    ],
  ]
  for (const [name, html, told] of faults) {
    test(`finds ${name}`, async () => {
      const page = await browser.newPage()
      await page.setContent(html)
      await assert.rejects(inspectPage(page, 'it'), (error: Error & { actual?: unknown }) => {
        assert.match(`${JSON.stringify(error.actual)} ${error.message}`, told)
        return true
      })
      await page.close()
    })
  }

  test('finds nothing on a page without faults', async () => {
    const page = await browser.newPage()
    await page.setContent(GOOD)
    await inspectPage(page, 'it')
    await page.close()
  })

  test('the error of a failed test tells what a page shows, and which requests failed or have no response', async (t) => {
    const site = await startSite((request, response) => {
      if (request.url === '/broken') response.writeHead(503).end()
      else if (request.url !== '/silent') answerPage(response, formatPage('Hello', '<p>Try again later.</p>'))
    })
    t.after(() => site.close())
    const person = await openPerson(browser, { baseURL: site.origin })
    t.after(() => person.close())
    await person.page.goto('/start')
    await person.page.evaluate(
      "fetch('/silent').catch(() => null); fetch('/broken').then(() => console.error('no good'))",
    )
    const cause = new Error('a timeout')
    await explainFailure({ error: new Error('the test has failed', { cause }) }, [person])
    assert.match(cause.stack ?? '', /a timeout.*\/start "Hello"\nHello\s+Try again later\.\n/s)
    assert.match(
      cause.stack ?? '',
      /without a response: GET \/silent\n.*failed: .*GET \/broken 503.*\nWindows that pages have opened: none\nFaults: .*no good/,
    )
  })
})
