/** A loading message. It appears after a short delay, because most responses arrive before that. */
export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <p role="status" aria-busy="true" className="animate-[late_0.2s_0.4s_both] py-4 text-muted">
      {what}…
    </p>
  )
}
