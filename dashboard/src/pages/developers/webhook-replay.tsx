import { REPLAYS_MAX } from '@bursar/server/src/domain/webhooks/delivery.ts'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { deliveriesKey } from '../../api/query-key.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { formatLocal } from '../../format/grant-draft.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const MINUTE_MS = 60_000
type Only = 'failed' | 'all'

/** Resends the events of a time range, for use after an outage of the receiver. */
export function WebhookReplay({ webhook }: { readonly webhook: Webhook }) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const [only, setOnly] = useState<Only>('failed')
  const [error, setError] = useState<string | undefined>(undefined)
  // The default range starts a day before this time, and ends a minute after it, to include the latest events.
  const [openedAt] = useState(() => Date.now())
  const replay = useAction({
    mutationFn: async (range: { from: Date; to: Date }) => {
      const body = { from: range.from.toISOString(), to: range.to.toISOString(), only }
      const input = { params: { slug, id: webhook.id }, body }
      return (await request('POST /console/workspaces/:slug/webhooks/:id/replay', input)).replayed
    },
    onSuccess: () => client.invalidateQueries({ queryKey: deliveriesKey(slug, mode) }),
  })
  if (webhook.status === 'disabled') return null
  return (
    <Section
      title="Resend events"
      lead="Use this after an outage of your server. You can go back up to 30 days. Each event gets one attempt. Events that happened while the endpoint was disabled are not included."
    >
      <form
        className="grid max-w-4xl gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          const [from, to] = [readTime(event.currentTarget, 'from'), readTime(event.currentTarget, 'to')]
          const isRange = from !== null && to !== null && from < to
          setError(isRange ? undefined : 'This time must be later than “From”.')
          if (isRange && !replay.isPending) replay.mutate({ from, to })
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <TextField
            name="from"
            type="datetime-local"
            label="From"
            required
            defaultValue={formatLocal(new Date(openedAt - DAY_MS))}
          />
          <TextField
            name="to"
            type="datetime-local"
            label="To"
            required
            defaultValue={formatLocal(new Date(openedAt + MINUTE_MS))}
            error={error}
          />
          <SelectField
            label="Events"
            value={only}
            choices={[
              { value: 'failed', text: 'Failed deliveries only' },
              { value: 'all', text: 'All deliveries, including successful ones' },
            ]}
            onChange={(value) => setOnly(value === 'all' ? 'all' : 'failed')}
          />
        </div>
        <ErrorNotice error={replay.error} />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button type="submit" isBusy={replay.isPending}>
            Resend events
          </Button>
          <p role="status" className="text-muted">
            {replay.data !== undefined && formatReplayed(replay.data)}
          </p>
        </div>
      </form>
    </Section>
  )
}

function readTime(form: HTMLFormElement, name: string): Date | null {
  const time = new Date(readFormText(form, name))
  return Number.isNaN(time.getTime()) ? null : time
}

function formatReplayed(count: number): string {
  if (count === 0) return 'There are no events to resend in this time range.'
  if (count >= REPLAYS_MAX)
    return `${count} events are being resent. There may be more events. Resend again once these have been sent.`
  return count === 1 ? '1 event is being resent.' : `${count} events are being resent.`
}
