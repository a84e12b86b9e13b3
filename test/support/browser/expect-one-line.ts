import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

const [WIDTH_MIN, WIDTH_MAX, WIDTH_STEP, HEIGHT] = [320, 1280, 32, 900]

/** The part of the browser's `Element` that is needed to count lines. */
interface TextElement {
  readonly ownerDocument: {
    createRange(): {
      selectNodeContents(element: unknown): void
      getClientRects(): Iterable<{ readonly bottom: number }>
    }
  }
}

/** Checks that a short text is never broken into two lines, however wide the window is. */
export async function expectOneLine(page: Page, text: Locator): Promise<void> {
  for (let width = WIDTH_MIN; width <= WIDTH_MAX; width += WIDTH_STEP) {
    await page.setViewportSize({ width, height: HEIGHT })
    const lines = await text.evaluate((node: unknown) => {
      const element = node as TextElement
      const range = element.ownerDocument.createRange()
      range.selectNodeContents(element)
      return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size
    })
    assert.equal(lines, 1, `at ${width} pixels`)
  }
}
