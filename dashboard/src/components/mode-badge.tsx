import type { Mode } from '../api/wire.ts'

/** Live is real money, and must never be taken for a test. */
export function ModeBadge({ mode }: { readonly mode: Mode }) {
  const isLive = mode === 'live'
  const tone = isLive ? 'border-warning-line bg-warning-soft text-warning' : 'border-line bg-sunken text-muted'
  return (
    <span className={`inline-flex items-center rounded-full border px-2.5 py-0.5 text-sm font-semibold ${tone}`}>
      {isLive ? 'Live: real money' : 'Test'}
    </span>
  )
}
