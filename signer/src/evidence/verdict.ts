import { cleanText } from '../clean-text.ts'

export type Answer = 'yes' | 'no' | 'not checked'

/** An answer to one of the three questions about a payment, with its reason. */
export interface Verdict {
  readonly answer: Answer
  /** Sentences for people. */
  readonly reason: string
}

export const yes = (reason: string): Verdict => ({ answer: 'yes', reason })
export const no = (reason: string): Verdict => ({ answer: 'no', reason })
export const notChecked = (reason: string): Verdict => ({ answer: 'not checked', reason })

/** Quotes a text of the file within a reason. */
export function quote(text: string): string {
  return `“${cleanText(text)}”`
}
