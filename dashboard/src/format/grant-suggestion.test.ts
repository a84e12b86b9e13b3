import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDraft, type GrantDraft } from './grant-draft.ts'
import { formatSuggestion, parseSuggestion, withSuggestion, type GrantSuggestion } from './grant-suggestion.ts'

const [SHOP, OTHER] = [`0x${'5A'.repeat(20)}`, `0x${'3c'.repeat(20)}`]
const DRAFT: GrantDraft = { ...createDraft(new Date(0)), maxPerTx: '5', dailyCap: '20', pasted: OTHER }
const PAYMENT: GrantSuggestion = { recipient: SHOP, amountUsdc: '7.5', spentUsdc: null, isPurchase: false }

const rows: readonly (readonly [string, GrantDraft, GrantSuggestion, readonly string[], Partial<GrantDraft>])[] = [
  ['a higher amount and a new recipient', DRAFT, PAYMENT, [], { maxPerTx: '7.5', pasted: `${OTHER}\n${SHOP}` }],
  ['a recipient of the address book', DRAFT, PAYMENT, [SHOP], { maxPerTx: '7.5', picked: [SHOP] }],
  ['any recipient', { ...DRAFT, allowsAnyRecipient: true }, PAYMENT, [SHOP], { maxPerTx: '7.5' }],
  [
    'a recipient that is allowed in lower case',
    { ...DRAFT, pasted: SHOP.toLowerCase() },
    PAYMENT,
    [],
    { maxPerTx: '7.5' },
  ],
  [
    'the spending before',
    DRAFT,
    { ...PAYMENT, recipient: OTHER, spentUsdc: '18' },
    [],
    { maxPerTx: '7.5', dailyCap: '25.5' },
  ],
  [
    'a purchase within the limits',
    DRAFT,
    { ...PAYMENT, recipient: OTHER, amountUsdc: '1', isPurchase: true },
    [],
    { allowsPurchases: true },
  ],
  ['an empty form', createDraft(new Date(0)), PAYMENT, [], { maxPerTx: '7.5', pasted: SHOP }],
]
for (const [name, draft, suggestion, known, changes] of rows) {
  test(`a form for a grant is changed for ${name}, and not more`, () => {
    assert.deepEqual(withSuggestion(draft, suggestion, known), { ...draft, ...changes })
  })
}

test('a suggestion survives the URL, and a link with anything else suggests nothing', () => {
  for (const suggestion of [PAYMENT, { ...PAYMENT, spentUsdc: '18', isPurchase: true }]) {
    assert.deepEqual(parseSuggestion(new URLSearchParams(formatSuggestion(suggestion))), suggestion)
  }
  for (const query of [
    '',
    `recipient=${SHOP}`,
    `recipient=${SHOP}&amount=-1`,
    'recipient=0x1&amount=1',
    `recipient=${SHOP}%0A${OTHER}&amount=1`,
  ]) {
    assert.equal(parseSuggestion(new URLSearchParams(query)), null, query)
  }
})
