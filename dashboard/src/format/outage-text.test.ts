import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Outage } from '@bursar/server/src/console/contract/outages.ts'
import { explainOutages } from './outage-text.ts'

describe('the text about an outage', () => {
  const cases: readonly (readonly [outages: readonly Outage[], says: readonly RegExp[], omits: readonly RegExp[]])[] = [
    [[], [], [/./]],
    [
      ['enclave'],
      [/payments and withdrawals fail/, /Owners can’t sign/, /still suspend grants/, /will still be confirmed/],
      [/Balances/],
    ],
    [
      ['chain'],
      [/blockchain of test mode/, /Balances are unknown/, /can’t withdraw/, /still sign and suspend/],
      [/Owners can’t sign/],
    ],
    [
      ['enclave', 'chain'],
      [/withdrawals fail/, /Owners can’t sign/, /Balances are unknown/, /can’t withdraw/, /still suspend grants/],
      [/still sign/, /will still be confirmed/],
    ],
  ]
  for (const [outages, says, omits] of cases) {
    test(`${outages.length === 0 ? 'nothing' : outages.join(' and ')} out of reach`, () => {
      const texts = explainOutages(outages, 'test')
      const text = texts.map(({ title, broken, working }) => `${title} ${broken} ${working}`).join(' ')
      for (const words of says) assert.match(text, words)
      for (const words of omits) assert.doesNotMatch(text, words)
      assert.equal(texts.length, outages.length)
    })
  }
})
