import type { ReactNode } from 'react'

const TONES = {
  plain: 'border-line bg-sunken text-ink',
  warning: 'border-warning-line bg-warning-soft text-warning',
  danger: 'border-danger-line bg-danger-soft text-danger',
} as const

interface NoticeProps {
  readonly tone?: keyof typeof TONES
  readonly children: ReactNode
}

export function Notice({ tone = 'plain', children }: NoticeProps) {
  return <div className={`grid gap-3 rounded-lg border px-4 py-3 text-[0.9375rem] ${TONES[tone]}`}>{children}</div>
}
