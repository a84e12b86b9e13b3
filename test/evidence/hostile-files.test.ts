import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { canonicalJson } from '../../server/src/lib/canonical-json.ts'
import { verifyEvidenceList } from '../../signer/src/evidence/verify-evidence-list.ts'
import {
  activated,
  audit,
  createOwner,
  decided,
  ended,
  GRANT_ID,
  sealFile,
  signGrant,
  signRecord,
  signResume,
  TERMS,
  type Part,
} from './forged-file.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

const owner = createOwner()
const [record, grant, active, payment, end] = [signRecord(owner), signGrant(owner), activated(), decided(), ended()]
const suspended = audit('grant.suspended')
const DETAILS = 'logs[0].leaves[2].texts.details'

/** Makes the leaf of an activation with details that are no usual JSON. */
function activatedWith(member: string): Part {
  const text = `{${member},"terms":${canonicalJson(TERMS)}}`
  const salt = randomBytes(16)
  const { leaf } = active
  const hash = createHash('sha256').update(salt).update(`details\0${text}`).digest('base64url')
  const content = { ...(JSON.parse(leaf.content) as object), salt: salt.toString('base64url'), details_hash: hash }
  return { leaf: { content: canonicalJson(content), texts: { details: text } } }
}

const nested = (levels: number): string => `"a":${'['.repeat(levels)}${']'.repeat(levels)}`
const withActivation = (activation: Part): Part[] => [record, grant, activation, payment, end]
const withTerms = (terms: object): Part[] => withActivation(activated({ ...TERMS, ...terms }))
const resumed = (
  at: string,
  ...signed: Parameters<typeof signResume> extends [unknown, ...infer Rest] ? Rest : never
) => [...[record, grant, active, audit('grant.suspended', {}, { at })], ...[signResume(owner, ...signed), payment, end]]

/** What another program could read in another way, and what the file says then: the answers, or the part that is wrong. */
const FILES: Readonly<Record<string, readonly [readonly Part[], string]>> = {
  // An object of JavaScript has these members too.
  'an action that is named constructor': [
    [record, grant, active, audit('constructor'), payment, end],
    'logs[0].leaves[3]',
  ],
  'an action that is named __proto__': [[record, grant, active, audit('__proto__'), payment, end], 'logs[0].leaves[3]'],
  'details with the member __proto__': [withActivation(activatedWith('"__proto__":{"terms":1}')), 'yes, yes'],
  // JSON.
  'details with a negative number': [withActivation(activatedWith('"a":-1')), DETAILS],
  'details with a fraction': [withActivation(activatedWith('"a":1.5')), DETAILS],
  'details with a huge number': [withActivation(activatedWith('"a":1e+21')), DETAILS],
  'details with the number 2^53': [withActivation(activatedWith('"a":9007199254740992')), DETAILS],
  'details with half of a character': [withActivation(activatedWith('"a":"\\ud800"')), DETAILS],
  'details with 32 levels': [withActivation(activatedWith(nested(31))), 'yes, yes'],
  'details with 33 levels': [withActivation(activatedWith(nested(32))), DETAILS],
  'details with brackets in a text': [withActivation(activatedWith(`"a":"\\"${'['.repeat(100)}"`)), 'yes, yes'],
  // Terms.
  'one term more': [withTerms({ more: 'x' }), 'no, yes'],
  'an amount with a zero in front': [withTerms({ max_per_tx_usdc: '010' }), 'no, yes'],
  'an amount with zeros at its end': [withTerms({ max_per_tx_usdc: '10.000000' }), 'yes, yes'],
  'an amount with 5,000 digits': [withTerms({ max_per_tx_usdc: '1'.repeat(5_000) }), 'no, yes'],
  'an end without milliseconds': [withTerms({ expires_at: '2027-01-15T08:00:00Z' }), 'no, yes'],
  'an end in another zone': [withTerms({ expires_at: '2027-01-15T09:00:00.000+01:00' }), 'no, yes'],
  'an address that begins with 0X': [withTerms({ recipient_allowlist: [`0X${'2'.repeat(40)}`] }), 'no, yes'],
  'an address in a list': [withTerms({ recipient_allowlist: [TERMS.recipient_allowlist] }), 'no, yes'],
  // Times and amounts.
  'a payment in the year 0': [
    [record, grant, active, decided({ at: '0000-01-01T00:00:00.000Z' }), end],
    'logs[0].leaves[3].content',
  ],
  'a payment in the second 60': [
    [record, grant, active, decided({ at: '2026-12-31T23:59:60.000Z' }), end],
    'logs[0].leaves[3].content',
  ],
  'a payment at the end of the grant': [[record, grant, active, decided({ at: TERMS.expires_at }), end], 'yes, no'],
  'the highest amount': [[record, grant, active, decided({ amount: '9'.repeat(78) }), end], 'yes, no'],
  'an amount in Arabic digits': [[record, grant, active, decided({ amount: '١٢٣' }), end], 'logs[0].leaves[3].content'],
  'a suspension on the 30th of February': [
    resumed('2026-03-02T12:00:00.000Z', { suspended_at: '2026-02-30T12:00:00.000Z' }),
    'no, yes',
  ],
  'a statement that expires at 24:00': [
    resumed('2026-11-22T12:00:00.000Z', {}, { expires_at: '2026-11-22T24:00:00.000Z' }),
    'no, yes',
  ],
  'a statement about a stop, as that of a grant': [
    [record, grant, active, suspended, mislabel(signResume(owner, {}, { stop: 'stp_1' })), payment, end],
    'signatures[2]',
  ],
}

/** Changes what the signature is for, but not its leaf. */
function mislabel(part: Required<Part>): Part {
  return { leaf: part.leaf, entry: { ...part.entry, subject: GRANT_ID } }
}

describe('a hostile file', () => {
  let verifiers: Verifiers
  before(() => {
    verifiers = openVerifiers()
  })
  after(() => verifiers.close())

  for (const [name, [parts, expected]] of Object.entries(FILES)) {
    test(`${name}: both verifiers say ${expected}`, async () => {
      const found = await verifiers.verify(sealFile(parts), { ownerKeys: [owner.publicKeySpki] })
      const answers = 'owner_signed' in found ? `${found.owner_signed}, ${found.within_limits}` : undefined
      assert.equal(found.valid ? answers : found.part, expected)
    })
  }

  test('with very many lines is not read', async () => {
    const content = new Uint8Array(Buffer.alloc(600_000, '\n'))
    const result = await verifyEvidenceList(content, { ownerKeys: [], logKeys: [], node: null })
    assert.ok(result.kind === 'invalid')
    assert.deepEqual([result.part, result.reason], ['file', 'it has too many lines'])
  })
})
