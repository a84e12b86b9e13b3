import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDraft, endIn, toDraft, formatLocal, parseDraft, toTerms, type GrantDraft } from './grant-draft.ts'

const NOW = new Date('2026-11-21T12:00:00.000Z')
const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
const OTHER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const DRAFT: GrantDraft = {
  maxPerTx: '10',
  dailyCap: '100',
  allowsAnyRecipient: true,
  picked: [],
  pasted: '',
  allowsPurchases: false,
  hasNoEndDate: true,
  endsInDays: null,
  until: '',
}

function read(change: Partial<GrantDraft>) {
  return parseDraft({ ...DRAFT, ...change }, NOW.getTime())
}

describe('amounts of a draft', () => {
  const valid = [
    ['10', '10'],
    [' 2.50 ', '2.50'],
    ['0.000001', '0.000001'],
    ['1,000', '1000'],
    ['1,234,567.5', '1234567.5'],
  ] as const
  for (const [text, usdc] of valid) {
    test(`“${text}” is ${usdc}`, () => {
      const parsed = read({ maxPerTx: text })
      assert.equal(parsed.maxPerTxUsdc, usdc)
      assert.deepEqual(parsed.errors, {})
    })
  }

  for (const text of ['', '0', '0.0', '-1', '1e3', '10,50', '1.0000001', '.5', '01', '$5', '9999999999999999']) {
    test(`“${text}” is rejected`, () => {
      const parsed = read({ dailyCap: text })
      assert.equal(parsed.dailyCapUsdc, null)
      assert.deepEqual(Object.keys(parsed.errors), ['daily_cap_usdc'])
      assert.equal(toTerms(parsed), null)
    })
  }
})

describe('recipients of a draft', () => {
  test('selected and pasted addresses are combined without duplicates', () => {
    const pasted = `${OTHER}, ${SHOP.toLowerCase()};\n${OTHER}`
    const parsed = read({ allowsAnyRecipient: false, picked: [SHOP], pasted })
    assert.deepEqual(parsed.recipients, [SHOP, OTHER])
    assert.deepEqual(toTerms(parsed)?.recipient_allowlist, [SHOP, OTHER])
  })

  test('selected addresses are ignored while any recipient is allowed', () => {
    assert.deepEqual(toTerms(read({ picked: [SHOP], pasted: 'nonsense' }))?.recipient_allowlist, [])
  })

  test('an empty list does not mean any recipient', () => {
    const parsed = read({ allowsAnyRecipient: false })
    assert.match(parsed.errors.recipient_allowlist ?? '', /at least one recipient, or choose “Any recipient”/)
    assert.equal(toTerms(parsed), null)
  })

  test('an invalid address is named in the error', () => {
    const parsed = read({ allowsAnyRecipient: false, pasted: `${SHOP} 0x12` })
    assert.match(parsed.errors.recipient_allowlist ?? '', /“0x12” is not an address/)
    assert.equal(toTerms(parsed), null)
  })

  test('more than 100 recipients are rejected', () => {
    const pasted = Array.from({ length: 101 }, (_, index) => `0x${String(index).padStart(40, '0')}`).join('\n')
    assert.match(read({ allowsAnyRecipient: false, pasted }).errors.recipient_allowlist ?? '', /101 recipients/)
  })
})

describe('the end of a draft', () => {
  test('a local time is converted to UTC', () => {
    const parsed = read({ hasNoEndDate: false, until: formatLocal(new Date('2026-12-12T14:00:00.000Z')) })
    assert.equal(toTerms(parsed)?.expires_at, '2026-12-12T14:00:00.000Z')
  })

  const faulty = [
    ['', /Choose a date/],
    ['soon', /Choose a date/],
    [formatLocal(new Date('2026-11-21T12:00:00.000Z')), /past/],
  ] as const
  for (const [until, error] of faulty) {
    test(`“${until}” is rejected`, () => {
      const parsed = read({ hasNoEndDate: false, until })
      assert.match(parsed.errors.expires_at ?? '', error)
      assert.equal(toTerms(parsed), null)
    })
  }
})

describe('the draft of a new grant', () => {
  const AMOUNTS = { maxPerTx: '10', dailyCap: '100' }
  const THIRTY_DAYS = '2026-12-21T12:00:00.000Z'
  const cases: readonly (readonly [string, Partial<GrantDraft>, readonly [readonly string[], string | null] | null])[] =
    [
      ['with no choice about recipients is incomplete', {}, null],
      ['ends in 30 days', { pasted: SHOP }, [[SHOP], THIRTY_DAYS]],
      ['allows any recipient if this is chosen', { allowsAnyRecipient: true }, [[], THIRTY_DAYS]],
      ['allows only the chosen recipients', { picked: [SHOP], pasted: OTHER }, [[SHOP, OTHER], THIRTY_DAYS]],
      [
        'ends on another day if this is chosen',
        { picked: [SHOP], ...endIn(1, NOW) },
        [[SHOP], '2026-11-22T12:00:00.000Z'],
      ],
      ['never ends if this is chosen', { picked: [SHOP], hasNoEndDate: true }, [[SHOP], null]],
    ]
  for (const [name, change, expected] of cases) {
    test(name, () => {
      const terms = toTerms(parseDraft({ ...createDraft(NOW), ...AMOUNTS, ...change }, NOW.getTime()))
      assert.deepEqual(terms === null ? null : [terms.recipient_allowlist, terms.expires_at], expected)
    })
  }
})

test('terms survive a round trip through a draft', () => {
  const terms = {
    max_per_tx_usdc: '10',
    daily_cap_usdc: '100.5',
    recipient_allowlist: [SHOP, OTHER],
    expires_at: '2026-12-12T14:00:00.000Z',
    x402: true,
  }
  assert.deepEqual(toTerms(parseDraft(toDraft(terms, [SHOP]), NOW.getTime())), terms)
  const endless = { ...terms, recipient_allowlist: [], expires_at: null }
  assert.deepEqual(toTerms(parseDraft(toDraft(endless, []), NOW.getTime())), endless)
})
