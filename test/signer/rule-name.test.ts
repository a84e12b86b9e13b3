import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fitsRuleName, formatRuleName, parseRuleName } from '../../server/src/domain/grants/rule-name.ts'
import { microUsdc, parseAmount } from '../../server/src/values/money.ts'
import { readRuleName } from '../../signer/src/decode/rule-name.ts'
import { Refusal } from '../../signer/src/refusal.ts'

const ID = 'grt_01JD8K3Q5V7W9X2Y4Z6A8BCDEF'

/** The 24-hour limit that each name says. Null if it says none. */
const READABLE: Readonly<Record<string, bigint | null>> = {
  [ID]: null,
  [`${ID} 50`]: 50_000_000n,
  [`${ID} 50.5`]: 50_500_000n,
  [`${ID} 0.000001`]: 1n,
  [`${ID} 1000000000000000`]: 10n ** 21n,
  [`${ID} 99999999999.999999`]: 99_999_999_999_999_999n,
}

const REFUSED = [
  ...['0', '0.0', '50.0', '50.50', '050', '00', '.5', '5.', '+5', '-5', '1e3', '0x5', '1,000', '0.0000001', '٥', 'x'],
  // A slash and two amounts are reserved for a later version, which must not be taken for a limit alone.
  ...['50/5/10', '50/', '/50', '100000000000.999999', '', ' 50', '50 ', '50 60', '50\n'],
].map((limits) => `${ID} ${limits}`)

const NO_GRANT = ['', ' ', '50', ` ${ID}`, `${ID}.50`, `${ID}0 50`, ID.toLowerCase(), `${ID.slice(0, -1)}U 50`]

function readOnPage(name: string): bigint | null | 'refused' {
  try {
    return readRuleName(name).dailyMax
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'request_unknown', String(error))
    return 'refused'
  }
}

describe('the name of the rules, which carries the 24-hour limit', () => {
  test('says the same limit to the service and to the signer page, and is written in this one form', () => {
    for (const [name, dailyCapMicro] of Object.entries(READABLE)) {
      assert.deepEqual(parseRuleName(name), { grantId: ID, dailyCapMicro }, name)
      assert.equal(readOnPage(name), dailyCapMicro, name)
      const cap = dailyCapMicro === null ? null : microUsdc(dailyCapMicro)
      assert.equal(formatRuleName({ grantId: ID, dailyCapMicro: cap }), name)
    }
  })

  test('in any other form is refused by both', () => {
    for (const name of [...REFUSED, ...NO_GRANT]) {
      assert.deepEqual([parseRuleName(name), readOnPage(name)], [null, 'refused'], JSON.stringify(name))
    }
  })

  test('has room for every limit with at most 18 digits', () => {
    const fits = ['99999999999.999999', '1000000000000000', '100000000000.999999'].map((text) =>
      fitsRuleName(parseAmount(text) ?? assert.fail(text)),
    )
    assert.deepEqual(fits, [true, true, false])
  })
})
