import { cleanLine } from '../clean-text.ts'
import { formatAmount } from '../describe/format.ts'
import type { InvalidResult, PaymentSummary, ValidResult } from './judge-payment.ts'
import type { Verdict } from './verdict.ts'
import type { WholeList } from './verify-evidence-list.ts'

const QUESTIONS = [
  ['ownerSigned', 'Owner signed'],
  ['withinLimits', 'Within the signed limits'],
  ['onChain', 'Happened on the chain'],
] as const

/** The three questions about a payment, each with its answer. */
export function listAnswers(result: ValidResult): readonly { readonly question: string; readonly verdict: Verdict }[] {
  return QUESTIONS.map(([name, question]) => ({ question, verdict: result[name] }))
}

/** Returns whether one of the three answers is no. */
export function hasNo(result: ValidResult): boolean {
  return listAnswers(result).some(({ verdict }) => verdict.answer === 'no')
}

/** Describes the result of a file in lines for people. No line contains control characters of the file. */
export function formatResult(result: ValidResult): readonly string[] {
  return [
    describePayment(result.payment),
    ...listAnswers(result).map(({ question, verdict }) => `${question}: ${verdict.answer} (${verdict.reason})`),
    ...formatList('What could not be checked:', result.unknown),
    ...formatList('What this does not prove:', result.doesNotProve),
  ].map(cleanLine)
}

/** Describes the results of an export in lines for people: how many there are, and each payment with the answer no. */
export function formatResults(results: readonly ValidResult[], whole: WholeList): readonly string[] {
  const tell = (name: (typeof QUESTIONS)[number][0]): string =>
    (['yes', 'no', 'not checked'] as const)
      .map((answer) => `${answer}: ${results.filter((result) => result[name].answer === answer).length}`)
      .join(', ')
  return [
    `${whole.payments} payments. ${whole.leftOut} more of the period have no evidence yet.`,
    ...QUESTIONS.map(([name, question]) => `${question}: ${tell(name)}`),
    ...results.filter(hasNo).flatMap((result) => [
      '',
      describePayment(result.payment),
      ...listAnswers(result)
        .filter(({ verdict }) => verdict.answer === 'no')
        .map(({ question, verdict }) => `${question}: no (${verdict.reason})`),
    ]),
    ...formatList('What could not be checked:', [...new Set(results.flatMap(({ unknown }) => unknown))]),
    ...formatList('What this does not prove:', results[0]?.doesNotProve ?? []),
  ].map(cleanLine)
}

/** Says which part of a file is wrong. */
export function formatInvalid({ part, reason }: InvalidResult): string {
  return cleanLine(`The evidence is not valid. In ${part}: ${reason}.`)
}

/** Describes the result of a file as JSON. */
export function describeResult(result: ValidResult) {
  return { ...describeAnswers(result), does_not_prove: result.doesNotProve }
}

/** Describes the results of an export as JSON. */
export function describeResults(results: readonly ValidResult[], { leftOut }: WholeList) {
  return {
    left_out: leftOut,
    payments: results.map(describeAnswers),
    does_not_prove: results[0]?.doesNotProve ?? [],
  }
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
