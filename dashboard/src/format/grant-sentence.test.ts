import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatTime } from './date.ts'
import { formatGrantSentence, type GrantSentenceValues } from './grant-sentence.ts'

const UNTIL = '2026-12-12T14:00:00.000Z'
const SHOP = { address: '0x52908400098527886E0F7030069857D2E4169EE7', label: 'Shop' }
const NAMELESS = { address: '0x8617E340B3D01FA5F11F306F4090FD50E238070D', label: null }

const FULL: GrantSentenceValues = {
  agentId: 'research-bot',
  walletName: 'Main wallet',
  maxPerTxUsdc: '10',
  dailyCapUsdc: '100',
  recipients: [],
  expiresAt: UNTIL,
  allowsPurchases: false,
}
const HEAD = 'research-bot may pay from Main wallet'
const LIMITS = ': up to 10 USDC per payment and up to 100 USDC in any 24 hours'
const END = `, until ${formatTime(UNTIL)}.`
const TAIL = `${LIMITS}${END}`

describe('formatGrantSentence', () => {
  const rows: readonly (readonly [Partial<GrantSentenceValues>, string])[] = [
    [{}, `${HEAD}, to any recipient${TAIL}`],
    [{ expiresAt: null }, `${HEAD}, to any recipient${LIMITS}, until this grant is revoked.`],
    [{ expiresAt: undefined }, `${HEAD}, to any recipient${LIMITS}, until …`],
    [
      { hasEnded: true },
      `research-bot could pay from Main wallet, to any recipient${LIMITS}. Its end date was ${formatTime(UNTIL)}.`,
    ],
    [
      { hasEnded: true, expiresAt: null },
      `research-bot could pay from Main wallet, to any recipient${LIMITS}. It had no end date.`,
    ],
    [
      { allowsPurchases: true },
      `${HEAD}, to any recipient${TAIL} It may also buy from websites that ask to be paid (x402 and MPP), within the same limits.`,
    ],
    [
      { allowsPurchases: true, hasEnded: true, expiresAt: null },
      `research-bot could pay from Main wallet, to any recipient${LIMITS}. It had no end date. It could also buy from websites that ask to be paid (x402 and MPP), within the same limits.`,
    ],
    [{ recipients: [SHOP] }, `${HEAD}, only to Shop${TAIL}`],
    [{ recipients: [SHOP, NAMELESS] }, `${HEAD}, only to Shop and 0x8617…070D${TAIL}`],
    [{ recipients: [SHOP, NAMELESS, SHOP] }, `${HEAD}, only to Shop, 0x8617…070D and Shop${TAIL}`],
    [{ recipients: [SHOP, SHOP, SHOP, SHOP] }, `${HEAD}, only to the 4 recipients listed${TAIL}`],
    [{ recipients: null }, `${HEAD}, to …${TAIL}`],
    [
      { maxPerTxUsdc: '0.000001', dailyCapUsdc: '1234567.5' },
      `${HEAD}, to any recipient: up to 0.000001 USDC per payment and up to 1,234,567.50 USDC in any 24 hours${END}`,
    ],
    [
      { agentId: null, walletName: null, maxPerTxUsdc: null, dailyCapUsdc: null },
      `… may pay from …, to any recipient: up to … USDC per payment and up to … USDC in any 24 hours${END}`,
    ],
  ]
  for (const [values, sentence] of rows) {
    test(sentence, () => assert.equal(join({ ...FULL, ...values }), sentence))
  }

  test('the terms are bold', () => {
    const stressed = formatGrantSentence({ ...FULL, recipients: [SHOP] }).filter(({ isStrong }) => isStrong)
    assert.deepEqual(
      stressed.map(({ text }) => text),
      ['research-bot', 'Main wallet', 'Shop', '10 USDC', '100 USDC', formatTime(UNTIL)],
    )
  })
})

function join(values: GrantSentenceValues): string {
  return formatGrantSentence(values)
    .map(({ text }) => text)
    .join('')
}
