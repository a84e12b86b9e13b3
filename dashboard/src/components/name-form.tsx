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
  /** Does it. The field is emptied afterwards. */
  readonly onSubmit: (name: string) => Promise<unknown>
  /** Is told what the field holds, as it is typed. */
  readonly onType?: (text: string) => void
  /** Takes the form away; without it the form stays. */
  readonly onCancel?: (() => void) | undefined
}

/** The smallest form there is: something gets a name, and with it comes to be. */
export function NameForm(props: NameFormProps) {
  const { label, hint, submitLabel, charsMax, initial = '', isMono = false, variant = 'plain', onSubmit } = props
  const { autoComplete = 'off', onType } = props
  const cancel = useCancel(props.onCancel)
  const form = useRef<HTMLFormElement>(null)
  const creation = useAction({ mutationFn: onSubmit, onSuccess: () => form.current?.reset() })
  return (
    <form
      ref={form}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const name = readFormText(event.currentTarget, 'name')
        if (name !== '' && !creation.isPending) creation.mutate(name)
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
          if (event.key !== 'Escape' || cancel === undefined || creation.isPending) return
          event.preventDefault()
          cancel()
        }}
        onChange={(event) => onType?.(event.currentTarget.value)}
      />
      <ErrorNotice error={creation.error} />
      <p className="flex flex-wrap gap-3">
        <Button type="submit" variant={variant} disabled={creation.isPending}>
          {submitLabel}
        </Button>
        {cancel !== undefined && (
          <Button variant="quiet" disabled={creation.isPending} onClick={cancel}>
            Cancel
          </Button>
        )}
      </p>
    </form>
  )
}
