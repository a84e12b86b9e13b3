import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { draftOf, formatLocal, readDraft, termsOf, type GrantDraft } from './grant-draft.ts'

const NOW = new Date('2026-11-21T12:00:00.000Z')
const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
const OTHER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const DRAFT: GrantDraft = {
  maxPerTx: '10',
  dailyCap: '100',
  isForAnybody: true,
  picked: [],
  pasted: '',
  isEndless: true,
  until: '',
}

function read(change: Partial<GrantDraft>) {
  return readDraft({ ...DRAFT, ...change }, NOW.getTime())
}

describe('amounts of a draft', () => {
  const sound = [
    ['10', '10'],
    [' 2.50 ', '2.50'],
    ['0.000001', '0.000001'],
    ['1,000', '1000'],
    ['1,234,567.5', '1234567.5'],
  ] as const
  for (const [text, usdc] of sound) {
    test(`“${text}” is ${usdc}`, () => {
      const reading = read({ maxPerTx: text })
      assert.equal(reading.maxPerTxUsdc, usdc)
      assert.deepEqual(reading.faults, {})
    })
  }

  for (const text of ['', '0', '0.0', '-1', '1e3', '10,50', '1.0000001', '.5', '01', '$5', '9999999999999999']) {
    test(`“${text}” is none`, () => {
      const reading = read({ dailyCap: text })
      assert.equal(reading.dailyCapUsdc, null)
      assert.deepEqual(Object.keys(reading.faults), ['daily_cap_usdc'])
      assert.equal(termsOf(reading), null)
    })
  }
})

describe('recipients of a draft', () => {
  test('those that are ticked and those that are pasted make one list, each once', () => {
    const pasted = `${OTHER}, ${SHOP.toLowerCase()};\n${OTHER}`
    const reading = read({ isForAnybody: false, picked: [SHOP], pasted })
    assert.deepEqual(reading.recipients, [SHOP, OTHER])
    assert.deepEqual(termsOf(reading)?.recipient_allowlist, [SHOP, OTHER])
  })

  test('what is ticked does not count while anybody may be paid', () => {
    assert.deepEqual(termsOf(read({ picked: [SHOP], pasted: 'nonsense' }))?.recipient_allowlist, [])
  })

  test('a list that is empty by mistake is not taken for “any recipient”', () => {
    const reading = read({ isForAnybody: false })
    assert.match(reading.faults.recipient_allowlist ?? '', /Pick a recipient/)
    assert.equal(termsOf(reading), null)
  })

  test('what is no address is named', () => {
    const reading = read({ isForAnybody: false, pasted: `${SHOP} 0x12` })
    assert.match(reading.faults.recipient_allowlist ?? '', /“0x12” is no address/)
    assert.equal(termsOf(reading), null)
  })

  test('there are at most 100', () => {
    const pasted = Array.from({ length: 101 }, (_, index) => `0x${String(index).padStart(40, '0')}`).join('\n')
    assert.match(read({ isForAnybody: false, pasted }).faults.recipient_allowlist ?? '', /There are 101/)
  })
})

describe('the end of a draft', () => {
  test('a time of the reader’s zone becomes an exact one', () => {
    const reading = read({ isEndless: false, until: formatLocal(new Date('2026-12-12T14:00:00.000Z')) })
    assert.equal(termsOf(reading)?.expires_at, '2026-12-12T14:00:00.000Z')
  })

  const faulty = [
    ['', /Pick a day/],
    ['soon', /Pick a day/],
    [formatLocal(new Date('2026-11-21T12:00:00.000Z')), /past/],
  ] as const
  for (const [until, fault] of faulty) {
    test(`“${until}” is none`, () => {
      const reading = read({ isEndless: false, until })
      assert.match(reading.faults.expires_at ?? '', fault)
      assert.equal(termsOf(reading), null)
    })
  }
})

test('terms that become a draft and are read again are the same', () => {
  const terms = {
    max_per_tx_usdc: '10',
    daily_cap_usdc: '100.5',
    recipient_allowlist: [SHOP, OTHER],
    expires_at: '2026-12-12T14:00:00.000Z',
  }
  assert.deepEqual(termsOf(readDraft(draftOf(terms, [SHOP]), NOW.getTime())), terms)
  const endless = { ...terms, recipient_allowlist: [], expires_at: null }
  assert.deepEqual(termsOf(readDraft(draftOf(endless, []), NOW.getTime())), endless)
})
