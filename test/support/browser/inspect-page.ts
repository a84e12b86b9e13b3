import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** The folder for screenshots of every page, for people to look at. */
const SCREENSHOTS = process.env['BURSAR_SCREENSHOTS']
const HEIGHT = 900
const WIDTHS = { desktop: 1280, phone: 375, small: 320 } as const
const SCHEMES = ['light', 'dark'] as const
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** The code that inspects a page. The test injects it, because the page's own policy would block it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Resolves when nothing is loading any more. */
const SETTLED = `new Promise((resolve) => {
  const look = () => (document.querySelector('[aria-busy=true]') === null ? resolve() : requestAnimationFrame(look))
  look()
})`

/**
 * Checks that the open page does not scroll sideways on any screen, down to a small phone, and that axe finds no fault
 * in either theme.
 */
export async function inspectPage(page: Page, name: string): Promise<void> {
  await page.evaluate(SETTLED)
  await page.evaluate(AXE)
  for (const [device, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: HEIGHT })
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.equal(overflow, 0, `${name} scrolls sideways at ${width} pixels`)
    if (device === 'small') continue
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      // While colors change from one theme to the other, their contrast can't be measured.
      await page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished))')
      await takePicture(page, `${name}-${colorScheme}-${device}`)
      // The themes differ only in their colors.
      const rules = colorScheme === 'light' ? undefined : COLOR_RULES
      const options = JSON.stringify({
        resultTypes: ['violations'],
        ...(rules === undefined ? {} : { runOnly: rules }),
      })
      const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`)
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
