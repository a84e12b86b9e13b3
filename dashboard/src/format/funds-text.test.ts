import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WalletFunds } from '@bursar/server/src/console/contract/overview.ts'
import { balanceOf, findSpendable, sumFunds } from './funds-text.ts'

const READ: WalletFunds = {
  ...{ address: '0x1', name: 'Read', balance_usdc: '60', read_at: '2026-11-28T12:00:00.000Z' },
  ...{ available_usdc: '50.5', limits_left_usdc: '98.5', can_spend_usdc: '50.5' },
}
const UNREAD: WalletFunds = {
  ...{ address: '0x2', name: 'New', balance_usdc: null, read_at: null },
  ...{ available_usdc: null, limits_left_usdc: '98.5', can_spend_usdc: null },
}
const asked = { left: '98.5', wallet: READ.address, funds: [READ, UNREAD], hasFailed: false }

describe('what can still be spent', () => {
  test('is what is left of the limit, but never more than the wallet has', () => {
    assert.deepEqual(findSpendable(asked), { usdc: '50.5', isShort: true })
    assert.deepEqual(findSpendable({ ...asked, left: '50.4' }), { usdc: '50.4', isShort: false })
  })

  test('is no amount while the balance is not known, and the text says why', () => {
    const textOf = (changes: Partial<Omit<typeof asked, 'funds'>> & { readonly funds?: undefined }) => {
      const found = findSpendable({ ...asked, ...changes })
      return found.usdc ?? ('text' in found ? found.text : null)
    }
    assert.equal(textOf({ wallet: UNREAD.address }), 'Balance not read yet')
    assert.equal(textOf({ funds: undefined }), 'Loading the balance…')
    assert.equal(textOf({ funds: undefined, hasFailed: true }), 'Balance not available')
    assert.equal(textOf({ wallet: '0x3' }), 'Balance not available')
  })
})

describe('the sums of all wallets', () => {
  test('are no amounts before the first balance is read', () => {
    assert.deepEqual(sumFunds([UNREAD]), [
      { title: 'In all wallets', usdc: null },
      { title: 'Agents can still spend now', usdc: null },
    ])
  })

  test('say that they cover only the wallets whose balance is known', () => {
    assert.deepEqual(sumFunds([READ, UNREAD]), [
      { title: 'In 1 of 2 wallets', usdc: '60' },
      { title: 'Agents can still spend from these now', usdc: '50.5' },
    ])
    assert.deepEqual(sumFunds([READ, READ]), [
      { title: 'In all wallets', usdc: '120' },
      { title: 'Agents can still spend now', usdc: '101' },
    ])
  })
})

test('a wallet whose balance the chain does not return now has its stored balance, with its time', () => {
  const { address, read_at: readAt } = READ
  assert.deepEqual(balanceOf({ address, balance_usdc: '7' }, [READ]), { usdc: '7', readAt: null })
  assert.deepEqual(balanceOf({ address, balance_usdc: null }, [READ]), { usdc: '60', readAt })
  assert.equal(balanceOf({ address, balance_usdc: null }, [UNREAD]), null)
  assert.equal(balanceOf({ address: UNREAD.address, balance_usdc: null }, [UNREAD]), null)
  assert.equal(balanceOf({ address, balance_usdc: null }, undefined), null)
})
