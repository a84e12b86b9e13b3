import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** A folder for pictures of every page, to be looked at. */
const SCREENSHOTS = process.env['BURSAR_SCREENSHOTS']
const HEIGHT = 900
const WIDTHS = { desktop: 1280, phone: 375, small: 320 } as const
const SCHEMES = ['light', 'dark'] as const
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** Until nothing is being loaded any more. */
const SETTLED = `new Promise((resolve) => {
  const look = () => (document.querySelector('[aria-busy=true]') === null ? resolve() : requestAnimationFrame(look))
  look()
})`

/** The open page scrolls sideways on no screen, down to a small phone, and has nothing that axe objects to, in either theme. */
export async function inspectPage(page: Page, name: string): Promise<void> {
  await page.evaluate(SETTLED)
  for (const [device, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: HEIGHT })
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.equal(overflow, 0, `${name} scrolls sideways at ${width} pixels`)
    if (device === 'small') continue
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      // Colours on their way from one theme to the other have no contrast to measure.
      await page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished))')
      await takePicture(page, `${name}-${colorScheme}-${device}`)
      // Legacy: in the page itself. There are no frames, for which it would open another page each time.
      const axe = new AxeBuilder({ page }).setLegacyMode()
      // The themes differ in nothing but colours.
      const { violations } = await (colorScheme === 'light' ? axe : axe.withRules(COLOR_RULES)).analyze()
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
