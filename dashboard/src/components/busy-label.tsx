import { formatBusy } from '../format/busy-text.ts'

/** Stands in for the label of a button while its action is running. */
export function BusyLabel({ label }: { readonly label: string }) {
  return (
    <>
      <span
        aria-hidden="true"
        className="size-4 shrink-0 animate-spin rounded-full border-2 border-current border-r-transparent"
      />
      {formatBusy(label)}
    </>
  )
}
