import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withParam } from '../../navigation/with-param.ts'
import { parsePaymentSearch, withView } from './payment-search.ts'

const read = (text: string) => parsePaymentSearch(new URLSearchParams(text))

describe('the URL of the payments page', () => {
  test('has no filters by default', () => {
    const expected = { view: 'all', filter: {}, fromDay: '', toDay: '', isFiltered: false }
    assert.deepEqual(read(''), expected)
    assert.deepEqual(read('status=moon&from=soon&to=&q=%20'), expected)
  })

  test('contains the filters', () => {
    const { view, filter, isFiltered } = read('status=failed&q=+order+7+&agent=a%2Fb&wallet=0x1')
    assert.deepEqual(filter, { status: 'failed', q: 'order 7', agent: 'a/b', wallet: '0x1' })
    assert.equal(view, 'failed')
    assert.ok(isFiltered)
    assert.ok(!read('status=failed').isFiltered)
    assert.deepEqual(read('kind=undelivered').filter, { kind: 'undelivered' })
    assert.deepEqual(read('kind=gift').filter, {})
  })

  test('days are in local time, from the start of the first to the end of the last', () => {
    const { filter, fromDay, toDay } = read('from=2026-11-01&to=2026-11-30')
    assert.equal(filter.from, new Date(2026, 10, 1).toISOString())
    assert.equal(filter.to, new Date(2026, 11, 1).toISOString())
    assert.deepEqual([fromDay, toDay], ['2026-11-01', '2026-11-30'])
  })

  test('an exact time stays exact and is shown as its day', () => {
    const at = new Date(2026, 10, 1, 14)
    const { filter, fromDay } = read(`from=${at.toISOString()}`)
    assert.equal(filter.from, at.toISOString())
    assert.equal(fromDay, '2026-11-01')
  })

  test('rejected requests can only be filtered by agent', () => {
    const { view, filter, isFiltered } = read('status=refused&agent=bot&q=x&from=2026-11-01')
    assert.deepEqual([view, filter, isFiltered], ['refused', { agent: 'bot' }, true])
  })
})

test('one parameter is changed and the others stay', () => {
  const search = new URLSearchParams('q=x&status=failed')
  assert.equal(withParam(search, 'agent', 'bot').toString(), 'q=x&status=failed&agent=bot')
  assert.equal(withParam(search, 'q', '').toString(), 'status=failed')
  assert.equal(withView(search, 'all').toString(), 'q=x')
  assert.equal(withView(search, 'pending').toString(), 'q=x&status=pending')
})
