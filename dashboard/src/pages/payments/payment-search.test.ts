import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withParam } from '../../navigation/with-param.ts'
import { parsePaymentSearch, withoutFilters, withView } from './payment-search.ts'

const read = (text: string) => parsePaymentSearch(new URLSearchParams(text))

describe('the URL of the payments page', () => {
  test('has no filters by default', () => {
    for (const text of ['', 'status=moon&from=soon&to=&q=%20&min=-1&max=0&kind=gift&reason=why&sort=up']) {
      const { view, filter, sort, filterCount, isFiltered } = read(text)
      assert.deepEqual([view, filter, sort, filterCount, isFiltered], ['all', {}, 'newest', 0, false])
    }
  })

  test('contains the filters, the order and the fields', () => {
    const text =
      'status=failed&q=+order+7+&agent=a%2Fb&wallet=0x1&recipient=0x2&min=0.5&max=1&reason=reverted&sort=oldest'
    const { view, filter, sort, fields, filterCount, isFiltered } = read(text)
    const shared = { q: 'order 7', agent: 'a/b', wallet: '0x1', recipient: '0x2', min: '0.5', max: '1' }
    assert.deepEqual(filter, { ...shared, status: 'failed', reason: 'reverted' })
    assert.deepEqual(fields, { ...shared, reason: 'reverted', kind: '', from: '', to: '' })
    assert.deepEqual([view, sort, filterCount, isFiltered], ['failed', 'oldest', 6, true])
    assert.ok(!read('status=failed').isFiltered)
    assert.deepEqual(read('kind=undelivered').filter, { kind: 'undelivered' })
  })

  test('days are in local time, from the start of the first to the end of the last', () => {
    const { filter, fields } = read('from=2026-11-01&to=2026-11-30')
    assert.equal(filter.from, new Date(2026, 10, 1).toISOString())
    assert.equal(filter.to, new Date(2026, 11, 1).toISOString())
    assert.deepEqual([fields.from, fields.to], ['2026-11-01', '2026-11-30'])
  })

  test('an exact time stays exact and is shown as its day', () => {
    const at = new Date(2026, 10, 1, 14)
    const { filter, fields } = read(`from=${at.toISOString()}`)
    assert.equal(filter.from, at.toISOString())
    assert.equal(fields.from, '2026-11-01')
  })

  test('rejected requests have the same filters without the kind, and reasons of their own', () => {
    const text = 'status=refused&agent=bot&q=x&kind=x402&group=none&reason='
    const { view, refusals, filterCount } = read(`${text}daily_cap_exceeded`)
    const reason = 'daily_cap_exceeded'
    assert.deepEqual(refusals, { agent: 'bot', q: 'x', reason, group: 'none' })
    assert.deepEqual([view, filterCount], ['refused', 2])
    assert.equal(read(`${text}reverted`).refusals.reason, undefined)
    assert.equal(read('reason=daily_cap_exceeded').filter.reason, undefined)
  })

  test('the query of a saved view has the parameters in one order, and no others', () => {
    assert.equal(read('sort=oldest&x=1&q=a+b&status=failed&agent=').query, 'status=failed&q=a+b&sort=oldest')
  })
})

test('one parameter is changed and the others stay', () => {
  const search = new URLSearchParams('q=x&status=failed')
  assert.equal(withParam(search, 'agent', 'bot').toString(), 'q=x&status=failed&agent=bot')
  assert.equal(withParam(search, 'q', '').toString(), 'status=failed')
  assert.equal(withView(search, 'all').toString(), 'q=x')
  assert.equal(withView(search, 'pending').toString(), 'q=x&status=pending')
  assert.equal(withView(new URLSearchParams('reason=reverted'), 'refused').toString(), 'status=refused')
  const filtered = new URLSearchParams('q=x&status=failed&agent=a&min=1&from=2026-11-01&sort=oldest')
  assert.equal(withoutFilters(filtered).toString(), 'q=x&status=failed&sort=oldest')
})
