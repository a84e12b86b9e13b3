import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PAGE_RECIPIENTS_MAX, takePage } from './wallet-budget.ts'

describe('takePage', () => {
  const half = PAGE_RECIPIENTS_MAX / 2
  const cases: readonly (readonly [name: string, recipients: readonly number[], limit: number, taken: number])[] = [
    ['without wallets, the page is empty', [], 2, 0],
    ['a page ends at the limit', [1, 1, 1], 2, 2],
    ['as many recipients as a page may have fit on it', [half, half, 0], 3, 3],
    ['one recipient more ends the page before its wallet', [half, half, 1], 3, 2],
    ['a wallet with too many recipients is alone on its page', [PAGE_RECIPIENTS_MAX + 1, 0], 2, 1],
  ]
  for (const [name, recipients, limit, taken] of cases) {
    test(name, () => {
      const wallets = recipients.map((count) => ({
        grants: [listOf(Math.floor(count / 2)), listOf(Math.ceil(count / 2))],
      }))
      assert.deepEqual(takePage(wallets, limit), wallets.slice(0, taken))
    })
  }
})

function listOf(count: number) {
  return { recipientAllowlist: Array.from({ length: count }, () => '0x') }
}
