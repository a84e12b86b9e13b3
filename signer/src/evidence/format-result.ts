import { cleanLine } from '../clean-text.ts'
import { formatAmount } from '../describe/format.ts'
import { DOES_NOT_PROVE } from './does-not-prove.ts'
import type { InvalidResult, PaymentSummary, ValidResult } from './judge-payment.ts'
import type { Verdict } from './verdict.ts'
import type { ListResult } from './verify-evidence-list.ts'

const QUESTIONS = [
  ['ownerSigned', 'Owner signed'],
  ['withinLimits', 'Within the signed limits'],
  ['onChain', 'Happened on the chain'],
] as const

/** The three questions about a payment, each with its answer. */
export function listAnswers(result: ValidResult): readonly { readonly question: string; readonly verdict: Verdict }[] {
  return QUESTIONS.map(([name, question]) => ({ question, verdict: result[name] }))
}

/** Returns whether one of the answers is no. */
export function hasNo(result: ValidResult | ListResult): boolean {
  if (result.kind === 'list') return result.payments.some(hasNo)
  return listAnswers(result).some(({ verdict }) => verdict.answer === 'no')
}

/** Describes a result in lines for people. No line contains control characters of the file. */
export function formatResult(result: ValidResult | ListResult): readonly string[] {
  return [
    ...(result.kind === 'list' ? formatPayments(result) : formatPayment(result, () => true)),
    ...formatList('What could not be checked:', result.unknown),
    ...formatList('What this does not prove:', DOES_NOT_PROVE),
  ].map(cleanLine)
}

/** Says how many payments an export has, how many of them have the answer no, and how many are left out. */
export function countPayments({ payments, leftOut }: ListResult): string {
  return `Payments: ${payments.length}. With the answer no: ${payments.filter(hasNo).length}. Left out, because there is no evidence of them, or not yet: ${leftOut}.`
}

/** Says for each of the three questions how many payments have which answer. */
export function countAnswers({ payments }: ListResult): readonly string[] {
  return QUESTIONS.map(([name, question]) => {
    const counts = (['yes', 'no', 'not checked'] as const).map(
      (answer) => `${payments.filter((payment) => payment[name].answer === answer).length} ${answer}`,
    )
    return `${question}: ${counts.join(', ')}`
  })
}

/** Counts the payments and the answers, and describes each payment with the answer no. */
function formatPayments(list: ListResult): readonly string[] {
  const bad = list.payments.filter(hasNo)
  return [
    countPayments(list),
    ...countAnswers(list),
    ...bad.flatMap((payment) => ['', ...formatPayment(payment, ({ answer }) => answer === 'no')]),
  ]
}

function formatPayment(result: ValidResult, isShown: (verdict: Verdict) => boolean): readonly string[] {
  const shown = listAnswers(result).filter(({ verdict }) => isShown(verdict))
  return [
    describePayment(result.payment),
    ...shown.map(({ question, verdict: { answer, reason } }) => `${question}: ${answer} (${reason})`),
  ]
}

/** Says which part of a file is wrong. */
export function formatInvalid({ part, reason }: InvalidResult): string {
  return cleanLine(`The evidence is not valid. In ${part}: ${reason}.`)
}

/** Describes a result as JSON. */
export function describeResult(result: ValidResult | ListResult) {
  const answers =
    result.kind === 'list'
      ? { left_out: result.leftOut, payments: result.payments.map(describeAnswers) }
      : describeAnswers(result)
  return { ...answers, does_not_prove: DOES_NOT_PROVE }
}

function describeAnswers({ payment, unknown, ownerSigned, withinLimits, onChain }: ValidResult) {
  return {
    payment: payment.id,
    owner_signed: ownerSigned.answer,
    within_limits: withinLimits.answer,
    on_chain: onChain.answer,
    reasons: { owner_signed: ownerSigned.reason, within_limits: withinLimits.reason, on_chain: onChain.reason },
    kind: payment.kind,
    wallet: payment.wallet,
    to: payment.to,
    amount_usdc: toUsdc(payment.amount),
    decided_at: payment.decidedAt.toISOString(),
    status: payment.status,
    tx_hash: payment.transaction,
    unknown,
  }
}

export function describePayment({ id, kind, amount, wallet, to, decidedAt, mode }: PaymentSummary): string {
  const noun = { transfer: 'Payment', x402: 'Purchase', withdrawal: 'Withdrawal' }[kind]
  return `${noun} ${id} (${mode}): ${formatAmount(amount)} USDC from ${wallet} to ${to}, decided at ${decidedAt.toISOString()}`
}

function formatList(title: string, sentences: readonly string[]): readonly string[] {
  return sentences.length === 0 ? [] : ['', title, ...sentences.map((sentence) => `- ${sentence}`)]
}

/** The amount as the API writes it: at least one digit before the point, and no zeros at the end. */
function toUsdc(micro: bigint): string {
  return formatAmount(micro)
    .replaceAll(',', '')
    .replace(/\.?0+$/, '')
}
