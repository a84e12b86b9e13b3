import { useRef, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { readFormText } from './read-form-text.ts'
import { TextField } from './text-field.tsx'
import { useCancel } from './use-cancel.ts'
import { useAction } from './use-action.ts'

interface NameFormProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly submitLabel: string
  readonly charsMax: number
  readonly initial?: string
  readonly isMono?: boolean
  readonly autoComplete?: 'off' | 'name'
  readonly variant?: 'primary' | 'plain'
  /** Called with the name. If the call succeeds, the field is cleared. */
  readonly onSubmit: (name: string) => Promise<unknown>
  /** Called with the text as it is typed. */
  readonly onTextChange?: (text: string) => void
  /** Closes the form. If this is missing, there is no Cancel button. */
  readonly onCancel?: (() => void) | undefined
}

/** A form with a single text field, mostly used to create something by its name. */
export function NameForm(props: NameFormProps) {
  const { label, hint, submitLabel, charsMax, initial = '', isMono = false, variant = 'plain', onSubmit } = props
  const { autoComplete = 'off', onTextChange } = props
  const cancel = useCancel(props.onCancel)
  const form = useRef<HTMLFormElement>(null)
  const submission = useAction({ mutationFn: onSubmit, onSuccess: () => form.current?.reset() })
  return (
    <form
      ref={form}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const name = readFormText(event.currentTarget, 'name')
        if (name !== '' && !submission.isPending) submission.mutate(name)
      }}
    >
      <TextField
        name="name"
        label={label}
        hint={hint}
        mono={isMono}
        required
        maxLength={charsMax}
        defaultValue={initial}
        autoComplete={autoComplete}
        autoCapitalize={isMono ? 'none' : 'sentences'}
        spellCheck={!isMono}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || cancel === undefined) return
          event.preventDefault()
          cancel()
        }}
        onChange={(event) => onTextChange?.(event.currentTarget.value)}
      />
      <ErrorNotice error={submission.error} />
      <p className="flex flex-wrap gap-3">
        <Button type="submit" variant={variant} isBusy={submission.isPending}>
          {submitLabel}
        </Button>
        {cancel !== undefined && (
          <Button variant="quiet" onClick={cancel}>
            {submission.isPending ? 'Close' : 'Cancel'}
          </Button>
        )}
      </p>
    </form>
  )
}
