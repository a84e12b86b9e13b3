/** A link that skips the navigation. It is the first focusable element of the page. */
export function SkipLink({ to }: { readonly to: string }) {
  return (
    <a
      href={`#${to}`}
      className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-20 focus:rounded-lg focus:bg-surface focus:px-4 focus:py-3 focus:font-semibold"
    >
      Skip to content
    </a>
  )
}
