import { checkWallet } from '../check-request.ts'
import type { Json } from '../canonical-json.ts'
import type { ResumedGrant } from '../decode/resumption.ts'
import type { RuleTerms } from '../decode/rules.ts'
import { formatChain } from '../describe/format.ts'
import { parseTime } from '../parse-time.ts'
import { Refusal } from '../refusal.ts'
import { parseDetails } from './leaf.ts'
import type { PaymentEvidence, PlacedSignature } from './payment-evidence.ts'
import { no, notChecked, yes, type Verdict } from './verdict.ts'
import { isBefore } from './verify-leaf.ts'

const MICRO_DIGITS = 6
const AMOUNT_PATTERN = /^(0|[1-9]\d{0,71})(?:\.(\d{1,6}))?$/
const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/
const TERMS_COUNT = 6
const SECOND_MS = 1_000

/**
 * Did the owner sign? `owned` are the signatures whose passkey owned the wallet, or null if the user gave no key of an
 * owner. `fingerprint` is that of the passkey.
 */
export function judgeOwner(
  evidence: PaymentEvidence,
  { owned, fingerprint }: { owned: ReadonlySet<PlacedSignature> | null; fingerprint: string | null },
): Verdict {
  const { authority, record, resumption, suspended, decided } = evidence
  const what = decided.leaf.kind === 'withdrawal' ? 'withdrawal' : 'grant'
  if (authority === null) return notChecked(`The file has no signature of an owner for the ${what}.`)
  if (authority.leaf === null) {
    return notChecked(`The log has no leaf of the owner's signature, so it does not show that the owner signed before.`)
  }
  if (record === null) {
    return notChecked(`The file has no statement, signed with the same passkey, of what belongs to the wallet.`)
  }
  if (suspended !== null && (resumption === null || resumption.leaf === null)) {
    const without = resumption === null ? 'The file has no signature' : 'The log has no leaf of the signature'
    return notChecked(`The grant was suspended before the payment. ${without} that resumed it.`)
  }
  if (!isBefore(authority.leaf, decided)) {
    return no(`The log received the owner's signature only after the payment had been decided.`)
  }
  const fault =
    checkSigned(authority, { record, evidence }) ?? (what === 'grant' ? checkGrant(authority, evidence) : null)
  if (fault !== null) return fault
  if (owned === null) {
    return notChecked(
      `You gave no public key of an owner. The signature is by the passkey whose public key (SPKI) has the SHA-256 ${fingerprint ?? ''}.`,
    )
  }
  if (!owned.has(authority)) {
    return no(
      `The passkey that signed the ${what} is not among the owners' keys that you gave, and none of them added it.`,
    )
  }
  if (suspended !== null && resumption !== null && !owned.has(resumption)) {
    return no(
      `The passkey that resumed the suspended grant is not among the owners' keys that you gave, and none of them added it.`,
    )
  }
  if (decided.leaf.recovered_at !== null) {
    return notChecked(
      'The payment was found on the chain later. The log does not show whether the grant allowed payments when it was made.',
    )
  }
  return yes(`The owner's passkey signed the ${what}${formatPlace(authority)} before the payment was decided.`)
}

/** The leaf of a payment does not name the chain, so only the signature says which one the owner meant. */
function formatPlace({ meaning }: PlacedSignature): string {
  if (meaning.kind === 'transfer') return ` on ${formatChain(meaning.transfer.chainId)}`
  return meaning.kind === 'policy' && meaning.terms !== null ? ` for ${formatChain(meaning.terms.chainId)}` : ''
}

/** Checks that the signed bytes are the grant or the withdrawal of this payment, for the wallet of the record. */
function checkSigned(
  { meaning }: PlacedSignature,
  { record: { meaning: recorded }, evidence }: { record: PlacedSignature; evidence: PaymentEvidence },
): Verdict | null {
  const { kind, subject, wallet, grant } = evidence.decided.leaf
  if (meaning.kind === 'unknown') return no(`The signer page would have refused what was signed: ${meaning.reason}`)
  if (recorded.kind !== 'record') return no('What was signed as the record of the wallet is not such a record.')
  if (kind === 'withdrawal') {
    if (meaning.kind !== 'transfer') return no('The owner signed something else than a withdrawal.')
    if (meaning.transfer.reference !== subject) return no('The owner signed another withdrawal than this one.')
  } else {
    if (meaning.kind !== 'policy' || meaning.terms === null) return no('The owner signed something else than a grant.')
    if (meaning.terms.grantId !== grant) return no('The owner signed another grant than the one of this payment.')
  }
  if (recorded.record.address !== wallet) return no('The owner signed for another wallet than the one that paid.')
  try {
    checkWallet(meaning, recorded.record)
    return null
  } catch (error) {
    if (error instanceof Refusal) return no('The owner signed for another wallet than the one in the record.')
    throw error
  }
}

/** Checks that the service activated what was signed, and that the grant was in force when the payment was decided. */
function checkGrant(
  authority: PlacedSignature,
  { activated, suspended, revoked, resumption, decided }: PaymentEvidence,
): Verdict | null {
  if (authority.meaning.kind !== 'policy' || authority.meaning.terms === null) return no('The owner signed no grant.')
  const { terms } = authority.meaning
  if (activated === null) return no('The file has no leaf that shows that the grant was activated.')
  if (!isBefore(activated, decided)) return no('The grant was activated only after the payment had been decided.')
  const details = activated.texts['details'] ?? null
  if (details === null) return notChecked('The file does not contain the terms with which the grant was activated.')
  if (!hasTerms(parseDetails(details)?.['terms'] ?? null, terms)) {
    return no('The service activated the grant with other terms than those that the owner signed.')
  }
  // The leaf of such a payment was made later than the payment, so what is before the leaf may be after the payment.
  if (decided.leaf.recovered_at !== null) return null
  if (revoked !== null && isBefore(revoked, decided)) return no('The grant was revoked before the payment was decided.')
  if (suspended === null) return null
  const leaf = resumption?.leaf ?? null
  if (resumption === null || leaf === null || !isBefore(suspended, leaf) || !isBefore(leaf, decided)) {
    return no('The grant was suspended, and not resumed between then and the payment.')
  }
  return checkResumption(resumption, { terms, suspendedAt: suspended.leaf.at, decided })
}

function checkResumption(
  { meaning, entry }: PlacedSignature,
  {
    terms,
    suspendedAt,
    decided: { leaf },
  }: { terms: RuleTerms; suspendedAt: Date; decided: PaymentEvidence['decided'] },
): Verdict | null {
  if (meaning.kind !== 'resumption') return no('What was signed to resume the grant is not such a statement.')
  if (entry.subject !== (meaning.stop ?? leaf.grant)) return no('The owner resumed the grants of another stop.')
  const named = meaning.grants.filter(({ id }) => id === leaf.grant)
  const [grant, ...others] = named
  if (meaning.workspace !== leaf.workspace || meaning.mode !== leaf.mode || grant === undefined || others.length > 0) {
    return no('The owner resumed other grants than the one of this payment.')
  }
  if (grant.wallet !== leaf.wallet || !hasLimits(grant, terms)) {
    return no('The owner resumed the grant with other limits than those that were signed for the grant.')
  }
  if (grant.suspendedAt.getTime() !== suspendedAt.getTime()) {
    return no('The owner resumed the grant after another suspension than the last one.')
  }
  return null
}

function hasLimits(grant: ResumedGrant, terms: RuleTerms): boolean {
  return (
    grant.amountMax === terms.amountMax &&
    (terms.dailyMax === null || grant.dailyMax === terms.dailyMax) &&
    grant.recipients === (terms.recipients?.length ?? null) &&
    toSecond(grant.endsAt) === toSecond(terms.endsAt) &&
    grant.hasPurchases === (terms.purchaseToken !== null)
  )
}

/** Returns whether the terms in the audit log are those that were signed. */
function hasTerms(value: Json, terms: RuleTerms): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const given = value as { readonly [member: string]: Json }
  const { expires_at: end, recipient_allowlist: recipients } = given
  const dailyMax = toMicro(given['daily_cap_usdc'])
  return (
    Object.keys(given).length === TERMS_COUNT &&
    toMicro(given['max_per_tx_usdc']) === terms.amountMax &&
    dailyMax !== null &&
    (terms.dailyMax === null || dailyMax === terms.dailyMax) &&
    (terms.recipients === null ? isEmpty(recipients) : areSame(recipients, terms.recipients)) &&
    areSame(given['contract_allowlist'], terms.tokens) &&
    hasEnd(end, terms) &&
    given['x402'] === (terms.purchaseToken !== null)
  )
}

function hasEnd(end: Json | undefined, { endsAt }: RuleTerms): boolean {
  if (end === null) return endsAt === null
  const given = typeof end === 'string' ? parseTime(end) : null
  return given !== null && toSecond(given) === toSecond(endsAt)
}

/** Reads an amount of USDC in millionths. */
function toMicro(value: Json | undefined): bigint | null {
  const [, whole, fraction = ''] = AMOUNT_PATTERN.exec(typeof value === 'string' ? value : '') ?? []
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(MICRO_DIGITS, '0'))
}

/** The end of a grant is signed in whole seconds, rounded down. */
function toSecond(time: Date | null): number | null {
  return time === null ? null : Math.floor(time.getTime() / SECOND_MS)
}

function isEmpty(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

function areSame(value: Json | undefined, addresses: readonly string[]): boolean {
  if (!Array.isArray(value)) return false
  const given = new Set(value.map((one: Json) => (isAddress(one) ? one.toLowerCase() : '')))
  return given.size === addresses.length && addresses.every((one) => given.has(one))
}

function isAddress(value: Json): value is string {
  return typeof value === 'string' && ADDRESS_PATTERN.test(value)
}
