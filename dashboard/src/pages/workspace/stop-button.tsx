import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { stopPreviewQuery } from '../../api/queries.ts'
import { liveKey } from '../../api/query-key.ts'
import { stopAgents, type StopScope } from '../../api/stops.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { formatStopPreview, formatUnderWay } from '../../format/stop-text.ts'

interface StopButtonProps {
  readonly slug: string
  readonly mode: Mode
  /** Everything in the mode, if it is left out. */
  readonly scope?: StopScope
  readonly label: string
  readonly title: string
  /** What the button looks like, if not like a button of a page. */
  readonly trigger?: { readonly className: string; readonly children: ReactNode }
}

/** A button that stops agents at once. It needs no signature, so its dialog says in numbers what will stop. */
export function StopButton({ slug, mode, scope = {}, label, title, trigger }: StopButtonProps) {
  const client = useQueryClient()
  const stop = async () => {
    try {
      await stopAgents(slug, mode, scope)
    } finally {
      await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
    }
  }
  return (
    <ConfirmDialog label={label} title={title} confirmLabel={label} onConfirm={stop} trigger={trigger}>
      <StopPreview slug={slug} mode={mode} scope={scope} />
    </ConfirmDialog>
  )
}

function StopPreview({ slug, mode, scope }: Required<Pick<StopButtonProps, 'slug' | 'mode' | 'scope'>>) {
  const { data: preview, error } = useQuery(stopPreviewQuery(slug, mode, scope))
  const underWay = preview === undefined ? null : formatUnderWay(preview)
  return (
    <div className="grid gap-2">
      <p>{preview === undefined ? 'Counting what will stop…' : formatStopPreview(preview)}</p>
      <ErrorNotice error={error} />
      {underWay !== null && <p>{underWay}</p>}
      <p>
        You need no signature to stop. To resume, an owner of each wallet signs once. Withdrawals by owners stay
        possible.
      </p>
    </div>
  )
}
