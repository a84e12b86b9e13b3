import { EVENT_TYPES } from '@bursar/server/src/domain/events/event.ts'
import { URL_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import type { WebhookTerms } from '@bursar/server/src/console/contract/webhooks.ts'
import { useId, useState } from 'react'
import { ApiError, hasCode } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { FieldError } from '../../components/field-error.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { TextField } from '../../components/text-field.tsx'
import { EVENT_MEANINGS, explainUrlError } from '../../format/webhook-text.ts'
import { useCancel } from '../../components/use-cancel.ts'
import { useAction } from '../../components/use-action.ts'

type EventType = WebhookTerms['events'][number]

interface WebhookFormProps {
  readonly initial?: WebhookTerms
  readonly submitLabel: string
  readonly onSubmit: (terms: WebhookTerms) => Promise<unknown>
  readonly onCancel: () => void
}

/** The form that creates or changes an endpoint, with its URL and event types. */
export function WebhookForm({ initial, submitLabel, onSubmit, onCancel }: WebhookFormProps) {
  const cancel = useCancel(onCancel)
  const id = useId()
  const [selected, setSelected] = useState<ReadonlySet<EventType>>(new Set(initial?.events ?? EVENT_TYPES))
  const [isTooFew, setTooFew] = useState(false)
  const action = useAction({ mutationFn: onSubmit })
  const urlError = explainUrl(action.error)
  const toggle = (type: EventType, isSelected: boolean) => {
    setTooFew(false)
    setSelected(new Set(EVENT_TYPES.filter((other) => (other === type ? isSelected : selected.has(other)))))
  }
  return (
    <form
      className="grid max-w-2xl gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        if (selected.size === 0) setTooFew(true)
        else if (!action.isPending)
          action.mutate({ url: readFormText(event.currentTarget, 'url'), events: [...selected] })
      }}
    >
      <TextField
        name="url"
        type="url"
        label="URL"
        hint="The HTTPS URL of your server that receives POST requests with JSON."
        placeholder="https://example.com/hooks"
        mono
        required
        maxLength={URL_CHARS_MAX}
        defaultValue={initial?.url}
        autoComplete="off"
        spellCheck={false}
        error={urlError}
      />
      <fieldset className="grid gap-2" aria-describedby={isTooFew ? `${id}-too-few` : undefined}>
        <legend className="pb-1.5 font-semibold">Event types</legend>
        <div className="divide-y divide-line rounded-xl border border-line bg-surface">
          {EVENT_TYPES.map((type) => (
            <div key={type} className="relative flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-sunken">
              <input
                id={`${id}-${type}`}
                type="checkbox"
                className="relative z-1 size-4.5 shrink-0 accent-accent"
                aria-describedby={`${id}-${type}-meaning`}
                checked={selected.has(type)}
                onChange={(event) => toggle(type, event.currentTarget.checked)}
              />
              <div className="grid gap-x-4 sm:flex-1 sm:grid-cols-[12rem_1fr] sm:items-baseline">
                <label htmlFor={`${id}-${type}`} className="font-mono text-[0.875rem] after:absolute after:inset-0">
                  {type}
                </label>
                <span id={`${id}-${type}-meaning`} className="text-sm text-muted">
                  {EVENT_MEANINGS[type]}
                </span>
              </div>
            </div>
          ))}
        </div>
        {isTooFew && <FieldError id={`${id}-too-few`}>Choose at least one event type.</FieldError>}
      </fieldset>
      {urlError === undefined && <ErrorNotice error={action.error} />}
      <p className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" isBusy={action.isPending}>
          {submitLabel}
        </Button>
        <Button variant="quiet" onClick={cancel}>
          {action.isPending ? 'Close' : 'Cancel'}
        </Button>
      </p>
    </form>
  )
}

function explainUrl(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || !hasCode(error, 'url_not_allowed')) return undefined
  const { details } = error
  const reason = typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined
  return explainUrlError(reason) ?? error.message
}
