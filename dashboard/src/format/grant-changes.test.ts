import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import { formatTime } from './date.ts'
import { listChanges } from './grant-changes.ts'

const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
const OTHER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const UNTIL = '2026-12-12T14:00:00.000Z'
const TERMS: GrantTerms = {
  max_per_tx_usdc: '10',
  daily_cap_usdc: '100',
  recipient_allowlist: [SHOP],
  expires_at: null,
}

describe('listChanges', () => {
  const rows: readonly (readonly [string, Partial<GrantTerms>, readonly string[]])[] = [
    ['nothing', {}, []],
    ['the same amount written differently', { max_per_tx_usdc: '10.00' }, []],
    ['an amount', { daily_cap_usdc: '1500' }, ['24-hour limit: 100.00 USDC → 1,500.00 USDC']],
    ['the end', { expires_at: UNTIL }, [`End date: none → ${formatTime(UNTIL)}`]],
    ['purchases', { x402: true }, ['Purchases: not allowed → allowed']],
    ['no purchases, written differently', { x402: false }, []],
    ['an additional recipient', { recipient_allowlist: [SHOP, OTHER] }, ['Recipients: 1 address → 2 addresses']],
    ['another recipient', { recipient_allowlist: [OTHER] }, ['Recipients: 1 address → 1 address']],
    ['any recipient', { recipient_allowlist: [] }, ['Recipients: 1 address → any recipient']],
    ['a recipient in other case', { recipient_allowlist: [SHOP.toLowerCase()] }, []],
  ]
  for (const [what, change, lines] of rows) {
    test(what, () => {
      const { terms } = listChanges(TERMS, { ...TERMS, ...change })
      assert.deepEqual(
        terms.map(({ name, before, after }) => `${name}: ${before} → ${after}`),
        lines,
      )
    })
  }

  test('added and removed addresses are listed, unless any recipient is allowed', () => {
    const swapped = listChanges(TERMS, { ...TERMS, recipient_allowlist: [OTHER] })
    assert.deepEqual([swapped.added, swapped.removed], [[OTHER], [SHOP]])
    const opened = listChanges(TERMS, { ...TERMS, recipient_allowlist: [] })
    assert.deepEqual([opened.added, opened.removed], [[], []])
  })
})
