import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { usdcAddress } from '../../sandbox/src/chain/deploy-usdc.ts'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { decodeRequest } from '../../signer/src/decode/request.ts'
import { describe as describeRequest } from '../../signer/src/describe/describe.ts'
import type { Description } from '../../signer/src/describe/description.ts'
import {
  formatAmount,
  formatFingerprint,
  formatTime,
  formatTimeLeft,
  isUsdc,
} from '../../signer/src/describe/format.ts'
import type { KnownKeys } from '../../signer/src/describe/describe-owners.ts'
import { readMessage } from '../../signer/src/read-message.ts'
import {
  authorization,
  CONDITIONS,
  purchaseRule,
  ENCLAVE,
  KEY,
  onCall,
  onTransaction,
  OTHER_KEY,
  RECIPIENT,
  RECORD,
  RECORD_STATEMENT,
  request,
  rule,
  transfer,
  USDC,
  WALLET,
} from './sample-requests.ts'

const OTHER_TOKEN = '0x3333333333333333333333333333333333333333'
const NO_KEYS: KnownKeys = { fingerprints: new Map(), signing: null, created: [], remembered: [] }

function show(value: Json, { claims = {}, keys = NO_KEYS }: { claims?: object; keys?: KnownKeys } = {}): Description {
  const payload = Buffer.from(canonicalJson(value))
  const credentials = [{ id: 'AQ', publicKey: 'key' }]
  const message = readMessage({ bursar: 'sign', payload: payload.toString('base64url'), credentials, claims })
  assert.ok(message.kind === 'sign')
  return describeRequest(decodeRequest(payload), { record: RECORD, claims: message.claims, keys })
}

/** Returns the texts of a fact, without the names that the service gives to addresses and keys. */
function textOf({ facts }: Description, label: string): string | undefined {
  return facts
    .find((fact) => fact.label === label)
    ?.lines.map(({ text }) => text)
    .join('\n')
}

function beforeOf({ facts }: Description, label: string): string | undefined {
  return facts
    .find((fact) => fact.label === label)
    ?.before?.map(({ text }) => text)
    .join('\n')
}

const { chain, token, native, amount, recipient, time } = CONDITIONS
const withConditions = (...conditions: Json[]): Json => request({ body: { rules: [{ ...rule([]), conditions }] } })
const owners = (...keys: string[]): Json =>
  request({ url: `${ENCLAVE}/v1/key_quorums/quorum1`, body: { public_keys: keys, authorization_threshold: 1 } })

describe('what the page shows of a grant', () => {
  test('all its terms', () => {
    const shown = show(request())
    assert.equal(shown.title, 'Let an agent pay from your wallet')
    assert.match(shown.summary, /up to 10\.00 USDC in each payment/)
    const terms = ['Wallet', 'At most in one payment', 'Recipients (1)', 'Ends', 'Network'].map((label) =>
      textOf(shown, label),
    )
    assert.deepEqual(terms, [WALLET, '10.00 USDC', RECIPIENT, 'January 15, 2027 at 8:00 AM UTC', 'Base'])
    assert.equal(shown.warnings.length, 1)
  })

  test('whether it allows purchases, and what that means', () => {
    assert.equal(textOf(show(request()), 'Purchases'), 'not allowed')
    const shown = show(request({ body: { rules: [rule(), purchaseRule()] } }))
    assert.equal(textOf(shown, 'Purchases'), 'allowed, under the same per-payment limit, recipients and end date')
    assert.ok(shown.warnings.some((warning) => warning.includes('does not end authorizations')))
    const changed = show(request({ body: { rules: [rule(), purchaseRule()] } }), { claims: { before: [rule()] } })
    assert.equal(beforeOf(changed, 'Purchases'), 'not allowed')
  })

  test('what is missing to limit it', () => {
    const shown = show(withConditions(chain, token, native, amount))
    assert.deepEqual([textOf(shown, 'Recipients'), textOf(shown, 'Ends')], ['anybody', 'when you revoke it'])
    assert.equal(shown.warnings.length, 3)
  })

  test('every one of 100 recipients, and their number', () => {
    const recipients = Array.from({ length: 100 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    const shown = show(withConditions(chain, token, native, amount, onCall('transfer.to', 'in', recipients)))
    assert.equal(textOf(shown, 'Recipients (100)'), recipients.join('\n'))
  })

  for (const [name, tokens] of Object.entries({
    'another token': [OTHER_TOKEN],
    'another token beside USDC': [USDC, OTHER_TOKEN],
    'the USDC of another chain': ['0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
    'the sandbox’s USDC outside the sandbox': [usdcAddress],
  })) {
    test(`${name} is never called USDC`, () => {
      const shown = show(withConditions(chain, onTransaction('to', 'in', tokens), native, amount))
      assert.match(shown.summary, /up to 10\.00 of a token below in/)
      assert.equal(textOf(shown, 'At most in one payment'), '10.00 of a token below')
      assert.equal(
        textOf(shown, 'Token contract'),
        tokens
          .map((one) => one.toLowerCase())
          .toSorted()
          .join(', '),
      )
      assert.ok(shown.warnings.some((warning) => warning.includes('not the USDC')))
    })
  }

  test('what the service says is in force, where it differs', () => {
    const old = rule([
      chain,
      token,
      native,
      onCall('transfer.amount', 'lte', '5000000'),
      onCall('transfer.to', 'in', [WALLET]),
      { ...time, value: '1700000000' },
    ])
    const shown = show(request(), { claims: { before: [{ ...old, id: 'rule1' }] } })
    assert.equal(shown.title, 'Change what an agent may pay')
    assert.equal(beforeOf(shown, 'At most in one payment'), '5.00 USDC')
    assert.equal(
      beforeOf(shown, 'Recipients (1)'),
      `1 recipient\n${RECIPIENT} will be added\n${WALLET} will be removed`,
    )
    assert.equal(beforeOf(shown, 'Ends'), 'November 14, 2023 at 10:13 PM UTC')
    assert.equal(beforeOf(shown, 'Network'), undefined)
  })

  test('a token and a chain other than those that the service says are in force', () => {
    const old = rule([onTransaction('chain_id', 'eq', '1'), onTransaction('to', 'in', [OTHER_TOKEN]), native, amount])
    const shown = show(request(), { claims: { before: [old] } })
    assert.equal(beforeOf(shown, 'At most in one payment'), '10.00 of a token below')
    assert.equal(beforeOf(shown, 'Network'), 'chain 1')
    assert.equal(beforeOf(shown, 'Token contract'), OTHER_TOKEN)
    assert.equal(beforeOf(shown, 'Recipients (1)'), 'anybody')
  })

  for (const [name, before] of Object.entries({
    'no rules': [],
    nonsense: 7,
    'unknown rules': [{ method: '*' }],
    null: null,
  })) {
    test(`the complete terms, if the service says that ${name} are in force`, () => {
      const shown = show(request(), { claims: { before } })
      assert.equal(shown.title, 'Let an agent pay from your wallet')
      assert.equal(textOf(shown, 'Recipients (1)'), RECIPIENT)
      assert.ok(shown.facts.every(({ before: old }) => old === undefined))
    })
  }

  test('its revocation', () => {
    const shown = show(request({ body: { rules: [] } }))
    assert.deepEqual([shown.title, textOf(shown, 'Wallet')], ['Revoke a grant', WALLET])
  })

  test('the service’s names apart from the addresses', () => {
    const name = `Shop) ${WALLET}`
    const shown = show(request(), { claims: { addressNames: { [RECIPIENT.toUpperCase().replace('X', 'x')]: name } } })
    assert.deepEqual(shown.facts.find(({ label }) => label === 'Recipients (1)')?.lines, [
      { text: RECIPIENT, claim: name },
    ])
    assert.ok(![shown.title, shown.summary, ...shown.warnings].join().includes('Shop'))
    assert.ok(recipient)
  })
})

describe('what the page shows of everything else', () => {
  test('a withdrawal', () => {
    const shown = show(transfer())
    assert.equal(shown.summary, 'Sends 1.25 USDC from the wallet now. This signature allows a single transfer.')
    const terms = ['Amount', 'To', 'From wallet', 'Network'].map((label) => textOf(shown, label))
    assert.deepEqual(terms, ['1.25 USDC', RECIPIENT, WALLET, 'Base'])
    assert.deepEqual(shown.warnings, [])
  })

  test('a withdrawal of another token is never one of USDC', () => {
    const shown = show(transfer({ to: OTHER_TOKEN }))
    assert.equal(
      shown.summary,
      'Sends 1.25 of the token below from the wallet now. This signature allows a single transfer.',
    )
    assert.equal(textOf(shown, 'Token contract'), OTHER_TOKEN)
    assert.equal(shown.warnings.length, 1)
  })

  test('an authorization of one transfer', () => {
    const shown = show(authorization({}))
    const terms = ['Amount', 'To', 'After', 'Before'].map((label) => textOf(shown, label))
    assert.deepEqual(terms, [
      '1.25 USDC',
      RECIPIENT,
      'January 1, 1970 at 12:00 AM UTC',
      'January 15, 2027 at 8:00 AM UTC',
    ])
    const endless = show(authorization({ message: { validBefore: `0x${'f'.repeat(64)}` } }))
    assert.equal(textOf(endless, 'Before'), 'without an end')
    assert.deepEqual(endless.warnings, ['The authorization has no end date.'])
  })

  test('a wallet record', () => {
    const shown = show(RECORD_STATEMENT)
    assert.deepEqual([textOf(shown, 'Wallet'), textOf(shown, 'Grants at the same time, at most')], [WALLET, '2'])
  })

  test('a list of signers', () => {
    const body = { additional_signers: [{ signer_id: 'signer1', override_policy_ids: ['policy1'] }] }
    const shown = show(request({ url: `${ENCLAVE}/v1/wallets/wallet1`, body }))
    const counts = ['Slots that can be used', 'Slots that can no longer be used'].map((label) => textOf(shown, label))
    assert.deepEqual(counts, ['1', '1'])
  })

  const fingerprints = new Map([
    [KEY, 'AAAA'],
    [OTHER_KEY, 'BBBB'],
  ])

  test('a list of owners: what this page knows of each, and what only the service says', () => {
    const shown = show(owners(KEY, OTHER_KEY), {
      claims: { keyNames: { [OTHER_KEY]: 'created on this page just now' } },
      keys: { ...NO_KEYS, fingerprints, signing: KEY },
    })
    assert.match(shown.summary, /any one of these 2 passkeys is enough to control/)
    assert.equal(textOf(shown, 'Passkey 1'), 'Fingerprint AAAA (the passkey that you sign with)')
    assert.deepEqual(shown.facts.at(-1)?.lines, [
      { text: 'Fingerprint BBBB (not known to this page)', claim: 'created on this page just now' },
    ])
    assert.equal(shown.warnings.length, 1)
  })

  test('a list of owners that this browser has seen', () => {
    const keys = { ...NO_KEYS, fingerprints, remembered: [KEY], created: [OTHER_KEY] }
    const shown = show(owners(KEY, OTHER_KEY), { keys })
    assert.equal(textOf(shown, 'Passkey 1'), 'Fingerprint AAAA (used in this browser before)')
    assert.equal(textOf(shown, 'Passkey 2'), 'Fingerprint BBBB (created on this page just now)')
    assert.deepEqual(shown.warnings, [])
    assert.match(show(owners(KEY), { keys }).summary, /one passkey alone controls/)
  })
})

describe('figures', () => {
  for (const [micro, text] of [
    [0n, '0.00'],
    [1n, '0.000001'],
    [10_000n, '0.01'],
    [1_250_000n, '1.25'],
    [1_234_567n, '1.234567'],
    [1_234_567_890_100n, '1,234,567.8901'],
    [2n ** 256n - 1n, `${(2n ** 256n / 1_000_000n).toLocaleString('en')}.639935`],
  ] as const) {
    test(`${micro} is ${text}`, () => assert.equal(formatAmount(micro), text))
  }

  test('the sandbox’s USDC is called so on this computer only', () => {
    const local = usdcAddress.toLowerCase()
    const place = globalThis as { location?: { hostname: string } }
    assert.equal(isUsdc(8453n, local), false)
    try {
      place.location = { hostname: 'signer.localhost' }
      assert.equal(isUsdc(8453n, local), true)
      place.location = { hostname: 'localhost.example' }
      assert.equal(isUsdc(8453n, local), false)
    } finally {
      delete place.location
    }
  })

  test('times are in UTC, with their year', () => {
    assert.equal(formatTime(new Date(8_640_000_000_000_000)), 'September 13, 275760 at 12:00 AM UTC')
  })

  test('the time that is left is rounded up', () => {
    const now = new Date(0)
    const texts = [-1, 1, 60_000, 60_001].map((ms) => formatTimeLeft(new Date(ms), now))
    assert.deepEqual(texts, ['less than a minute', 'less than a minute', 'less than a minute', '2 minutes'])
  })

  test('fingerprints can be compared by two people', () => {
    assert.equal(formatFingerprint(Uint8Array.from({ length: 32 }, (_, byte) => byte)), '0001 0203 0405 0607')
  })
})
