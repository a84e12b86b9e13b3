import { useEffect, useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { readText } from '../../components/read-form-text.ts'
import { TextField } from '../../components/text-field.tsx'
import { addressFault, fieldFaults } from '../../format/field-errors.ts'
import { useDeed } from '../../components/use-action.ts'

interface NewRecipientFormProps {
  readonly onSubmit: (recipient: { readonly address: string; readonly label: string }) => Promise<unknown>
}

export const LABEL_CHARS_MAX = 100

/** Names an address. One that has a name already gets the new one. */
export function NewRecipientForm({ onSubmit }: NewRecipientFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const naming = useDeed({
    mutationFn: onSubmit,
    onSuccess: () => {
      form.current?.reset()
      form.current?.querySelector('input')?.focus()
    },
  })
  const faults = fieldFaults(naming.error)
  const mistyped = addressFault(naming.error, [naming.variables?.address ?? ''])
  const isAtField = faults['address'] !== undefined || faults['label'] !== undefined
  const hasFault = naming.isError && isAtField
  useEffect(() => {
    if (hasFault) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [hasFault])
  return (
    <form
      ref={form}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const address = readText(event.currentTarget, 'address')
        const label = readText(event.currentTarget, 'label')
        if (address !== '' && label !== '' && !naming.isPending) naming.mutate({ address, label })
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
          title="0x and 40 characters of 0 to 9 and a to f"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          fault={mistyped ?? faults['address']}
        />
        <TextField
          name="label"
          label="Name"
          required
          maxLength={LABEL_CHARS_MAX}
          autoComplete="off"
          placeholder="Search provider"
          fault={faults['label']}
        />
        <div className="lg:pt-[1.9rem]">
          <Button type="submit" look="primary" disabled={naming.isPending}>
            Save the name
          </Button>
        </div>
      </div>
      {!isAtField && <ErrorNotice error={naming.error} />}
    </form>
  )
}
