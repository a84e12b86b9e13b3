import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import { findTargets, type SearchableItems } from './find-targets.ts'

const NOTHING: SearchableItems = { agents: [], wallets: [], grants: [], recipients: [] }
const ITEMS: SearchableItems = {
  agents: [{ id: 'shop-bot' }, ...Array.from({ length: 20 }, (_, index) => ({ id: `crawler-${index}` }))],
  wallets: [{ name: 'Shop till', address: '0x52908400098527886E0F7030069857D2E4169EE7' }],
  grants: [{ id: 'grant_1', agent_id: 'shop-bot', wallet_name: 'Shop till', state: 'active' }],
  recipients: [{ label: 'Café Zürich', address: '0x8617E340B3D01FA5F11F306F4090FD50E238070D' }],
}
const find = (text: string, items = ITEMS, role: Role = 'admin') =>
  findTargets(text, { slug: 'demo', mode: 'test', role, items })
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
      '/w/demo/test/payments?q=SHOP',
    ])
  })

  test('finds a wallet by its address', () => {
    assert.deepEqual(
      find('0x5290').map(({ text }) => text),
      ['Shop till', 'Search payments for “0x5290”'],
    )
  })

  test('limits the results of a kind, and lists pages first', () => {
    assert.equal(pathsOf('crawler').length, 7)
    assert.equal(pathsOf('gra')[0], '/w/demo/test/grants')
  })

  test('finds a payment or rejected request by its ID', () => {
    const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
    for (const [text, path] of [
      [` pay_${id} `, `payments/pay_${id}`],
      [`ref_${id}`, `refusals/ref_${id}`],
    ] as const) {
      // The ID does not say which mode it belongs to.
      assert.deepEqual(pathsOf(text), [`/w/demo/test/${path}`, `/w/demo/live/${path}`])
    }
  })

  test('finds a recipient by name, without regard to accents, and by its address', () => {
    const path = '/w/demo/test/payments?recipient=0x8617E340B3D01FA5F11F306F4090FD50E238070D'
    for (const text of ['ZURICH', '0x8617…070D', '0x8617e3']) assert.equal(pathsOf(text)[0], path)
  })

  test('finds actions by other words too, and only those that the member may do', () => {
    assert.ok(pathsOf('new wal').includes('/w/demo/test/wallets#new'))
    assert.ok(pathsOf('csv').includes('/w/demo/test/payments'))
    const ofViewer = find('', NOTHING, 'viewer').map(({ text }) => text)
    assert.ok(ofViewer.includes('Export payments') && !ofViewer.includes('New grant'))
  })
})
