import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { usdcAddress } from '../../sandbox/src/chain/deploy-usdc.ts'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { decodeRequest } from '../../signer/src/decode/request.ts'
import { describe as describeRequest } from '../../signer/src/describe/describe.ts'
import type { Description } from '../../signer/src/describe/description.ts'
import { formatTime } from '../../signer/src/describe/format.ts'
import type { KnownKeys } from '../../signer/src/describe/describe-owners.ts'
import { readMessage } from '../../signer/src/read-message.ts'
import { findRemembered, rememberRequest, type Remembered } from '../../signer/src/remembered-requests.ts'
import { openStore } from '../../signer/src/store.ts'
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
  RULE_NAME,
  transfer,
  USDC,
  WALLET,
} from './sample-requests.ts'

const OTHER_TOKEN = '0x3333333333333333333333333333333333333333'
const NO_KEYS: KnownKeys = { fingerprints: new Map(), signing: null, created: [], remembered: [] }

interface Known {
  readonly claims?: object
  readonly keys?: KnownKeys
  /** A request that was signed in this browser before. */
  readonly signed?: Json
}

const SIGNED_AT = new Date('2026-11-12T14:03:00Z')

function show(value: Json, { claims = {}, keys = NO_KEYS, signed }: Known = {}): Description {
  const payload = Buffer.from(canonicalJson(value))
  const credentials = [{ id: 'AQ', publicKey: 'key' }]
  const message = readMessage({ bursar: 'sign', payload: payload.toString('base64url'), credentials, claims })
  assert.ok(message.kind === 'sign')
  const remembered = signed === undefined ? null : remember(signed, value)
  return describeRequest(decodeRequest(payload), { record: RECORD, claims: message.claims, keys, remembered })
}

/** Returns what this browser remembers for the request `value`, after `signed` was signed in it. */
function remember(signed: Json, value: Json): Remembered | null {
  const store = openStore(() => {
    throw new Error('no storage')
  })
  const payload = new Uint8Array(Buffer.from(canonicalJson(signed)))
  rememberRequest(store, { decoded: decodeRequest(payload), payload, signedAt: SIGNED_AT })
  return findRemembered(store, decodeRequest(Buffer.from(canonicalJson(value))))
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

function seenOf({ facts }: Description, label: string): string | undefined {
  return facts
    .find((fact) => fact.label === label)
    ?.seen?.map(({ text }) => text)
    .join('\n')
}

function headlinesOf({ notes = [] }: Description): readonly string[] {
  return notes.map(({ headline }) => headline)
}

const { chain, token, native, amount, recipient, time } = CONDITIONS
const withConditions = (...conditions: Json[]): Json => request({ body: { rules: [{ ...rule([]), conditions }] } })
const owners = (...keys: string[]): Json =>
  request({ url: `${ENCLAVE}/v1/key_quorums/quorum1`, body: { public_keys: keys, authorization_threshold: 1 } })

describe('what the page shows of a grant', () => {
  test('all its terms', () => {
    const shown = show(request())
    assert.equal(shown.title, 'Let an agent pay from your wallet')
    const ends = formatTime(new Date('2027-01-15T08:00:00Z'))
    assert.equal(
      shown.summary,
      `An agent may send up to 10.00 USDC in each payment to 1 recipient, at most 50.50 USDC in 24 hours, until ${ends}, without asking you again.`,
    )
    const terms = ['At most in one payment', 'At most in 24 hours', 'Recipients (1)', 'Ends', 'Network', 'Wallet'].map(
      (label) => textOf(shown, label),
    )
    assert.deepEqual(terms, ['10.00 USDC', '50.50 USDC', RECIPIENT, ends, 'Base', WALLET])
    assert.deepEqual(shown.warnings, [])
    assert.deepEqual(headlinesOf(shown), ['the service enforces the 24-hour limit'])
    assert.match(shown.notes?.[0]?.text ?? '', /Your signature fixes it, so the service cannot raise it unseen/)
  })

  test('whether it allows purchases, and what that means', () => {
    assert.equal(textOf(show(request()), 'Purchases'), 'not allowed')
    const shown = show(request({ body: { rules: [rule(), purchaseRule()] } }))
    assert.equal(textOf(shown, 'Purchases'), 'allowed, within the same limits')
    assert.match(shown.summary, /, purchases included,/)
    assert.ok(shown.notes?.some(({ text }) => text.includes('does not end authorizations')))
    const changed = show(request({ body: { rules: [rule(), purchaseRule()] } }), { claims: { before: [rule()] } })
    assert.equal(beforeOf(changed, 'Purchases'), 'not allowed')
  })

  test('what is missing to limit it', () => {
    const shown = show(withConditions(chain, token, native, amount))
    assert.deepEqual([textOf(shown, 'Recipients'), textOf(shown, 'Ends')], ['anybody', 'when you revoke it'])
    assert.match(shown.summary, /to anybody, at most 50\.50 USDC in 24 hours, with no end date,/)
    assert.deepEqual(shown.warnings, ['The agent may pay anybody. This is safer with a list of recipients.'])
    assert.deepEqual(headlinesOf(shown), ['the service enforces the 24-hour limit', 'the grant has no end date'])
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
    assert.equal(beforeOf(shown, 'Ends'), formatTime(new Date('2023-11-14T22:13:20Z')))
    assert.equal(beforeOf(shown, 'Network'), undefined)
  })

  const raised = [chain, token, native, onCall('transfer.amount', 'lte', '5000000'), recipient, time]
  const before = { before: [rule(raised)] }

  test('what was signed in this browser before, and not what the service says about it', () => {
    const shown = show(request(), { claims: before, signed: request({ body: { rules: [rule(raised)] } }) })
    assert.equal(shown.title, 'Change what an agent may pay')
    assert.deepEqual(
      [seenOf(shown, 'At most in one payment'), beforeOf(shown, 'At most in one payment')],
      ['5.00 USDC', undefined],
    )
    assert.equal(shown.facts[0]?.label, 'At most in one payment')
    assert.equal(shown.source, `“Before” is what was signed in this browser on ${formatTime(SIGNED_AT)}.`)
    assert.deepEqual(shown.warnings, [])
  })

  test('both, and a warning, if the service says something else than what was signed in this browser', () => {
    const shown = show(request(), {
      claims: { before: [rule()] },
      signed: request({ body: { rules: [rule(raised)] } }),
    })
    assert.equal(shown.title, 'Change what an agent may pay')
    assert.equal(seenOf(shown, 'At most in one payment'), '5.00 USDC')
    assert.match(shown.warnings.join(), /The service says that other terms are in force than those signed last/)
    const other = rule([chain, token, native, onCall('transfer.amount', 'lte', '7000000'), recipient, time])
    const third = show(request(), { claims: { before: [other] }, signed: request({ body: { rules: [rule(raised)] } }) })
    assert.deepEqual(
      [seenOf(third, 'At most in one payment'), beforeOf(third, 'At most in one payment')],
      ['5.00 USDC', '7.00 USDC'],
    )
  })

  test('the same terms again, only if they were signed in this browser before', () => {
    const claims = { before: [rule()] }
    assert.equal(show(request(), { claims, signed: request() }).title, 'Sign the same terms again')
    assert.equal(show(request(), { claims }).title, 'Change what an agent may pay')
  })

  test('a grant in a place that another grant had before', () => {
    const shown = show(request(), { signed: request({ body: { rules: [rule(raised)] } }) })
    assert.equal(shown.title, 'Let an agent pay from your wallet')
    assert.ok(shown.facts.every(({ seen }) => seen === undefined))
    assert.ok(headlinesOf(shown).includes('other terms were signed here before'))
  })

  test('a token and a chain other than those that the service says are in force', () => {
    const old = rule([onTransaction('chain_id', 'eq', '1'), onTransaction('to', 'in', [OTHER_TOKEN]), native, amount])
    const shown = show(request(), { claims: { before: [old] } })
    assert.equal(beforeOf(shown, 'At most in one payment'), '10.00 of a token below')
    assert.equal(beforeOf(shown, 'Network'), 'chain 1')
    assert.equal(beforeOf(shown, 'Token contract'), OTHER_TOKEN)
    assert.equal(beforeOf(shown, 'Recipients (1)'), 'anybody')
  })

  const [grantId = ''] = RULE_NAME.split(' ')
  const named = (name: string): Json => rule(undefined, { name })
  const rules = (...list: Json[]): Json => request({ body: { rules: list } })
  const dailyOf = (shown: Description) => {
    const label = 'At most in 24 hours'
    return [textOf(shown, label), seenOf(shown, label), beforeOf(shown, label)]
  }

  test('a 24-hour limit that differs from the one that was signed here, and from the one that the service says', () => {
    const signed = rules(named(`${grantId} 20`))
    const raised = show(request(), { signed, claims: { before: [named(`${grantId} 20`)] } })
    assert.deepEqual(dailyOf(raised), ['50.50 USDC', '20.00 USDC', undefined])
    assert.equal(raised.title, 'Change what an agent may pay')
    const denied = show(request(), { signed, claims: { before: [rule()] } })
    assert.match(denied.warnings.join(), /other terms are in force than those signed last/)
  })

  test('a grant whose 24-hour limit was not signed before', () => {
    const [old, claims] = [named(grantId), { before: [named(grantId)], dailyLimitBefore: '40.00 USDC' }]
    assert.deepEqual(dailyOf(show(request(), { signed: rules(old), claims })), [
      '50.50 USDC',
      'not part of the signature',
      '40.00 USDC (not part of the signature)',
    ])
    const unsigned = show(rules(old), { signed: rules(old), claims })
    assert.deepEqual([dailyOf(unsigned)[0], unsigned.title], [undefined, 'Sign the same terms again'])
    assert.deepEqual(headlinesOf(unsigned), ['only the service enforces the 24-hour limit'])
    const lost = show(rules(old), { signed: request(), claims: { before: [rule()] } })
    assert.deepEqual(dailyOf(lost), ['not part of the signature', '50.50 USDC', undefined])
    assert.match(lost.warnings.join(), /would no longer cover a limit on what the agent spends in 24 hours/)
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
    assert.equal(textOf(shown, 'The grant allowed'), 'This page has not seen the terms of the grant.')
  })

  test('what a revoked grant allowed: as signed in this browser, or else as the service says', () => {
    const end = request({ body: { rules: [] } })
    const allowed = `Up to 5.00 USDC in each payment to 1 recipient, at most 50.50 USDC in 24 hours, until ${formatTime(new Date('2027-01-15T08:00:00Z'))}`
    const signed = request({ body: { rules: [rule(raised)] } })
    const label = 'The grant allowed'
    const texts = [show(end, { claims: before, signed }), show(end, { claims: before }), show(end, { signed })].map(
      (shown) => [seenOf(shown, label), beforeOf(shown, label)],
    )
    assert.deepEqual(texts, [
      [allowed, undefined],
      [undefined, allowed],
      [allowed, undefined],
    ])
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
      formatTime(new Date(0)),
      formatTime(new Date('2027-01-15T08:00:00Z')),
    ])
    const endless = show(authorization({ message: { validBefore: `0x${'f'.repeat(64)}` } }))
    assert.equal(textOf(endless, 'Before'), 'without an end')
    assert.deepEqual(endless.warnings, ['The authorization has no end date.'])
  })

  test('a wallet record', () => {
    const shown = show(RECORD_STATEMENT)
    assert.deepEqual([textOf(shown, 'Wallet'), textOf(shown, 'At the same time')], [WALLET, 'at most 2 grants'])
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
    assert.deepEqual(shown.facts.find(({ label }) => label === 'Passkey 2')?.lines, [
      { text: 'Fingerprint BBBB (not known to this page)', claim: 'created on this page just now' },
    ])
    assert.equal(shown.warnings.length, 1)
  })

  test('which passkey is no longer an owner, as signed in this browser or as the service says', () => {
    const keys = { ...NO_KEYS, fingerprints, signing: KEY }
    const label = 'Not an owner after this'
    const text = 'Fingerprint BBBB (not known to this page)'
    const names = { keyNames: { [KEY]: 'Phone', [OTHER_KEY]: 'Laptop' } }
    assert.equal(textOf(show(owners(KEY), { keys, signed: owners(KEY, OTHER_KEY) }), label), text)
    assert.equal(textOf(show(owners(KEY), { keys, claims: names }), label), text)
    assert.equal(textOf(show(owners(KEY, OTHER_KEY), { keys, claims: names }), label), undefined)
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
