import { formatAmount } from '../describe/format.ts'
import type { RuleTerms } from '../decode/rules.ts'
import type { Transfer } from '../decode/transfer.ts'
import type { DecidedLeaf } from './leaf.ts'
import type { PaymentEvidence, PlacedSignature } from './payment-evidence.ts'
import { no, notChecked, yes, type Verdict } from './verdict.ts'

/** Says which limits could not be checked, in a sentence. Null if all were. */
export function listUncheckedLimits({ authority }: PaymentEvidence): string | null {
  if (authority?.meaning.kind !== 'policy') return null
  return authority.meaning.terms?.dailyMax === null
    ? 'The owner signed no 24-hour limit, so neither it nor the limits that the service applied could be compared.'
    : null
}

/**
 * Is the payment within the signed limits? `owned` are the signatures whose passkey owned the wallet, or null if the user
 * gave no key of an owner.
 */
export function judgeLimits(evidence: PaymentEvidence, owned: ReadonlySet<PlacedSignature> | null): Verdict {
  const {
    authority,
    decided: { leaf },
  } = evidence
  if (authority === null)
    return notChecked('The file has no signature of an owner, so no limits are known to be signed.')
  if (owned?.has(authority) === false) {
    return notChecked('The limits in the file are not signed with a key of an owner that you gave.')
  }
  const { meaning } = authority
  if (leaf.kind === 'withdrawal') {
    return meaning.kind === 'transfer' ? judgeWithdrawal(leaf, meaning.transfer) : no('No withdrawal was signed.')
  }
  if (meaning.kind !== 'policy' || meaning.terms === null || meaning.terms.grantId !== leaf.grant) {
    return no('No limits of this grant were signed.')
  }
  // The service records it under the grant of that time, which may be another one than when it was made.
  if (leaf.recovered_at !== null) {
    return notChecked(
      'The payment was found on the chain after the database had been restored, so the log does not say under which limits it was made.',
    )
  }
  return judgeGrant(leaf, meaning.terms)
}

function judgeWithdrawal(leaf: DecidedLeaf, { from, to, amount, reference }: Transfer): Verdict {
  if (reference !== leaf.subject) return no('Another withdrawal was signed.')
  if (from !== leaf.wallet) return no('A withdrawal from another wallet was signed.')
  if (to !== leaf.to) return no('A withdrawal to another recipient was signed.')
  if (amount !== leaf.amount) return no('A withdrawal of another amount was signed.')
  return yes('The wallet, the recipient and the amount are the signed ones.')
}

function judgeGrant(leaf: DecidedLeaf, terms: RuleTerms): Verdict {
  const { amount, max_per_payment: max, cap_24h: cap, spent_24h: spent } = leaf
  const { amountMax, dailyMax, recipients, endsAt, purchaseToken } = terms
  if (recipients !== null && !recipients.includes(leaf.to)) return no('The recipient is not one of the signed ones.')
  if (amount > amountMax) {
    return no(`The amount ${formatAmount(amount)} is above the signed maximum ${formatAmount(amountMax)}.`)
  }
  if (endsAt !== null && leaf.at >= endsAt) return no('The payment was decided after the signed end of the grant.')
  if (leaf.kind === 'x402') {
    if (purchaseToken === null) return no('The payment is a purchase, and the signed rules allow none.')
    if (endsAt !== null && (leaf.valid_before === null || leaf.valid_before > endsAt)) {
      return no('The authorization of the purchase can be used after the signed end of the grant.')
    }
  }
  if (dailyMax === null) return yes('The recipient, the amount and the time are as signed.')
  if (max === null || cap === null || spent === null)
    return no('The log does not say which limits the service applied.')
  if (max !== amountMax) {
    return no(
      `The service applied a maximum of ${formatAmount(max)} for a payment, but ${formatAmount(amountMax)} was signed.`,
    )
  }
  if (cap !== dailyMax) {
    return no(`The service applied a 24-hour limit of ${formatAmount(cap)}, but ${formatAmount(dailyMax)} was signed.`)
  }
  if (spent + amount > dailyMax) {
    return no(
      `${formatAmount(spent)} had been spent in the 24 hours before. With this payment, the signed 24-hour limit ${formatAmount(dailyMax)} was exceeded.`,
    )
  }
  return yes('The recipient, the amount, the time and the 24-hour limit are as signed.')
}
