import { Notice } from '../../components/notice.tsx'

/** Says that a period has too many payments for a report. */
export function TooLargeNotice() {
  return (
    <Notice tone="warning">
      <p>
        There are too many payments in these days to add them up here. Choose fewer days, or export the payments as CSV.
      </p>
    </Notice>
  )
}
