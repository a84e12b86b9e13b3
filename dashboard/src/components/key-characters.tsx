import type { Mode } from '@bursar/server/src/console/contract/fields.ts'

/** The beginning and the end of an API key, by which people recognize it. */
export function KeyCharacters({ mode, last4 }: { readonly mode: Mode; readonly last4: string }) {
  return (
    <code className="font-mono text-[0.875em] text-muted">
      svc_{mode}_…{last4}
    </code>
  )
}
