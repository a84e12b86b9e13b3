/** An arrow that points down, for elements that open. */
export function ChevronIcon({ className }: { readonly className: string }) {
  return (
    <svg
      viewBox="0 0 12 12"
      className={`fill-none stroke-current ${className}`}
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d="m2 4 4 4 4-4" />
    </svg>
  )
}
