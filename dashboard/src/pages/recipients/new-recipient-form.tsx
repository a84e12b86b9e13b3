import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useEffect, useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { TextField } from '../../components/text-field.tsx'
import { addressError, fieldErrors } from '../../format/field-errors.ts'
import { useAction } from '../../components/use-action.ts'

interface NewRecipientFormProps {
  readonly onSubmit: (recipient: { readonly address: string; readonly label: string }) => Promise<unknown>
}

/** Adds a recipient to the address book. If the address already has a name, renames it. */
export function NewRecipientForm({ onSubmit }: NewRecipientFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const saving = useAction({
    mutationFn: onSubmit,
    onSuccess: () => {
      form.current?.reset()
      form.current?.querySelector('input')?.focus()
    },
  })
  const errors = fieldErrors(saving.error)
  const invalidAddress = addressError(saving.error, [saving.variables?.address ?? ''])
  const isFieldError = errors['address'] !== undefined || errors['label'] !== undefined
  const hasFieldError = saving.isError && isFieldError
  useEffect(() => {
    if (hasFieldError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [hasFieldError])
  return (
    <form
      ref={form}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const address = readFormText(event.currentTarget, 'address')
        const label = readFormText(event.currentTarget, 'label')
        if (address !== '' && label !== '' && !saving.isPending) saving.mutate({ address, label })
      }}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)_auto]">
        <TextField
          name="address"
          label="Address"
          mono
          required
          placeholder="0x…"
          pattern="0x[0-9a-fA-F]{40}"
          title="0x followed by 40 characters from 0 to 9 and a to f"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          error={invalidAddress ?? errors['address']}
        />
        <TextField
          name="label"
          label="Name"
          required
          maxLength={NAME_CHARS_MAX}
          autoComplete="off"
          placeholder="Example: Weather service"
          error={errors['label']}
        />
        <div className="lg:pt-[1.9rem]">
          <Button type="submit" variant="primary" isBusy={saving.isPending}>
            Save recipient
          </Button>
        </div>
      </div>
      {!isFieldError && <ErrorNotice error={saving.error} />}
    </form>
  )
}
