import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toMicro } from './amount.ts'
import { chooseScale, formatStep, listSteps, toPercent } from './chart-scale.ts'

describe('the axis of a chart', () => {
  const rows = [
    ['0', ['0.000001', '0']],
    ['0.000003', ['0.000003', '0.000002', '0.000001', '0']],
    ['0.7', ['0.8', '0.6', '0.4', '0.2', '0']],
    ['4', ['4', '3', '2', '1', '0']],
    ['4.000001', ['6', '4', '2', '0']],
    ['100', ['100', '50', '0']],
    ['9000', ['10k', '5,000', '0']],
    ['1300000', ['1.5M', '1M', '500k', '0']],
    ['1000000000000000', ['1000T', '500T', '0']],
  ] as const
  for (const [highest, labels] of rows) {
    test(`for ${highest} has the values ${labels.join(', ')}`, () => {
      assert.deepEqual(listSteps(chooseScale(toMicro(highest))).map(formatStep), labels)
    })
  }

  test('is at least as high as the highest bar, and less than twice as high', () => {
    for (let micro = 1n; micro < 10n ** 21n; micro = micro * 3n + 1n) {
      const { topMicro } = chooseScale(micro)
      assert.ok(topMicro >= micro && (topMicro < micro * 2n || topMicro <= 10n), `${micro} under ${topMicro}`)
    }
  })

  test('an amount is drawn in proportion to the height', () => {
    assert.equal(toPercent(toMicro('2.5'), chooseScale(toMicro('10'))), 25)
  })
})
