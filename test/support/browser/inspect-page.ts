import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** If this is set, a screenshot of every page is saved in this folder, for people to look at. */
const SCREENSHOTS = process.env['BURSAR_SCREENSHOTS']
const HEIGHT = 900
const WIDTHS = { desktop: 1280, phone: 375, small: 320 } as const
const DEVICES = ['desktop', 'phone', 'small'] as const
/**
 * The themes on each device, in order. The second device begins with the last theme of the first one, so that the theme
 * does not change in between.
 */
const SCHEMES = { desktop: ['light', 'dark'], phone: ['dark', 'light'] } as const
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** The code of axe. The test injects it from outside, because the page's own policy would block a script tag. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A script that resolves when the page has finished loading its data. */
const SETTLED = `new Promise((resolve) => {
  const look = () => (document.querySelector('[aria-busy=true]') === null ? resolve() : requestAnimationFrame(look))
  look()
})`

/**
 * Ends all transitions, and leaves animations without an end, such as that of a busy button. Repeats this if a new
 * transition begins in the next two frames, in which the page draws what it has just received. Waiting for the transitions
 * would take a third of the processor time of an inspection.
 */
const STILL = `(async () => {
  const frame = () => new Promise(requestAnimationFrame)
  const ending = () => document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
  do {
    for (const animation of ending()) animation.finish()
    await frame()
    await frame()
  } while (ending().some(({ playState }) => playState === 'running'))
})()`

/**
 * Lists the words in cells and headings of tables that are broken over two lines. A longer word than this may be an
 * address or a URL, which may be broken.
 */
const BROKEN_WORDS = `(() => {
  const LETTERS_MAX = 24
  const broken = []
  for (const cell of document.querySelectorAll('[role=cell], [role=columnheader]')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { data } = walker.currentNode
      for (const { 0: word, index } of data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        if (word.length > LETTERS_MAX) continue
        const range = document.createRange()
        range.setStart(walker.currentNode, index)
        range.setEnd(walker.currentNode, index + word.length)
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        if (lines.size > 1) broken.push(word)
      }
    }
  }
  return broken
})()`

/**
 * Checks the open page in both themes and on several screens, down to a small phone. The page must not scroll sideways,
 * no table may break a word on a large screen, and axe must find no fault.
 */
export async function inspectPage(page: Page, name: string): Promise<void> {
  await page.evaluate(SETTLED)
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE)
  for (const device of DEVICES) {
    const width = WIDTHS[device]
    await page.setViewportSize({ width, height: HEIGHT })
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.equal(overflow, 0, `${name} scrolls sideways at ${width} pixels`)
    if (device === 'desktop') {
      assert.deepEqual(await page.evaluate(BROKEN_WORDS), [], `the tables of ${name} break words at ${width} pixels`)
    }
    if (device === 'small') continue
    for (const colorScheme of SCHEMES[device]) {
      await page.emulateMedia({ colorScheme })
      // Contrast cannot be measured while the colors are still changing from one theme to the other.
      await page.evaluate(STILL)
      await takePicture(page, `${name}-${colorScheme}-${device}`)
      // The two themes differ only in colors, so the second one needs only the rules about colors.
      const rules = colorScheme === 'light' ? undefined : COLOR_RULES
      const options = JSON.stringify({
        resultTypes: ['violations'],
        ...(rules === undefined ? {} : { runOnly: rules }),
      })
      // Only the faults are sent to the test: the whole result is large.
      const violations = await page.evaluate<AxeResults['violations']>(
        `axe.run(document, ${options}).then(({ violations }) => violations)`,
      )
      const found = violations.map(({ id, nodes }) => [
        id,
        nodes.map(({ target, failureSummary }) => [target, failureSummary]),
      ])
      assert.deepEqual(found, [], `${name}, ${colorScheme}, at ${width} pixels`)
    }
  }
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}
