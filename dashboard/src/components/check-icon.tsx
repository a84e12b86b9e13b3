/** A tick mark. It is only decoration, not a checkbox. */
export function CheckIcon({ className }: { readonly className: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      className={`fill-none stroke-current ${className}`}
      strokeWidth="2.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d="m4 10.5 4 4 8-9" />
    </svg>
  )
}
