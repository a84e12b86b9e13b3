import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findTargets, type SearchableItems } from './find-targets.ts'

const NOTHING: SearchableItems = { agents: [], wallets: [], grants: [] }
const ITEMS: SearchableItems = {
  agents: [{ id: 'shop-bot' }, ...Array.from({ length: 20 }, (_, index) => ({ id: `crawler-${index}` }))],
  wallets: [{ name: 'Shop till', address: '0x52908400098527886E0F7030069857D2E4169EE7' }],
  grants: [{ id: 'grant_1', agent_id: 'shop-bot', wallet_name: 'Shop till', state: 'active' }],
}
const find = (text: string, items = ITEMS) => findTargets(text, { slug: 'demo', mode: 'test', items })
const pathsOf = (text: string) => find(text).map(({ path }) => path)

describe('findTargets', () => {
  test('lists all pages and nothing else while the text is empty', () => {
    assert.deepEqual(find(''), find('', NOTHING))
    assert.ok(pathsOf('').includes('/w/demo/test/developers/keys'))
  })

  test('finds agents, wallets and grants by name, ignoring case', () => {
    assert.deepEqual(pathsOf('SHOP'), [
      '/w/demo/test/agents/shop-bot',
      '/w/demo/test/wallets/0x52908400098527886E0F7030069857D2E4169EE7',
      '/w/demo/test/grants/grant_1',
    ])
  })

  test('finds a wallet by its address', () => {
    assert.deepEqual(
      find('0x5290').map(({ text }) => text),
      ['Shop till'],
    )
  })

  test('limits the results of a kind, and lists pages first', () => {
    assert.equal(pathsOf('crawler').length, 6)
    assert.equal(pathsOf('gra')[0], '/w/demo/test/grants')
  })

  test('finds a payment or rejected request by its ID', () => {
    const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
    assert.deepEqual(pathsOf(` pay_${id} `), [`/w/demo/test/payments/pay_${id}`])
    assert.deepEqual(pathsOf(`ref_${id}`), [`/w/demo/test/refusals/ref_${id}`])
  })
})
