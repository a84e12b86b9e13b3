import type { ReactNode } from 'react'

const TONES = {
  success: 'border-success-line bg-success-soft text-success',
  neutral: 'border-line bg-sunken text-muted',
  warning: 'border-warning-line bg-warning-soft text-warning',
  danger: 'border-danger-line bg-danger-soft text-danger',
} as const

export type Tone = keyof typeof TONES

/** A status in a word or two. The colour adds no information to the text. */
export function StatusBadge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center rounded-full border px-2 py-px text-[0.8125rem] font-semibold whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  )
}
