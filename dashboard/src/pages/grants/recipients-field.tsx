import { GRANT_RECIPIENTS_MAX } from '@bursar/server/src/domain/grants/grant.ts'
import { useId } from 'react'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { Notice } from '../../components/notice.tsx'
import { RadioGroupField } from '../../components/radio-group-field.tsx'
import { FieldError } from '../../components/field-error.tsx'
import { FIELD_CLASS } from '../../components/text-field.tsx'
import { formatShortAddress } from '../../format/address.ts'
import type { GrantDraft } from '../../format/grant-draft.ts'

interface RecipientsFieldProps {
  readonly draft: GrantDraft
  readonly error: string | undefined
  /** The address book of the workspace. */
  readonly recipients: readonly Recipient[]
  readonly onChange: (change: Partial<GrantDraft>) => void
}

const CHOICES = [
  { value: 'list', text: 'Only these recipients' },
  { value: 'any', text: 'Any recipient' },
] as const

/** The recipients of a grant: any, or a list of entries from the address book and other addresses. */
export function RecipientsField({ draft, error, recipients, onChange }: RecipientsFieldProps) {
  const id = useId()
  return (
    <div className="grid gap-4">
      <RadioGroupField
        label="Recipients"
        value={draft.allowsAnyRecipient ? 'any' : 'list'}
        choices={CHOICES}
        onChange={(value) => onChange({ allowsAnyRecipient: value === 'any' })}
      />
      {draft.allowsAnyRecipient ? (
        <Notice tone="warning">
          <p>
            The agent can pay any address, up to its limits. If somebody tricks the agent or steals one of your API
            keys, they can send the money to themselves.
          </p>
        </Notice>
      ) : (
        <div className="grid gap-4">
          {recipients.length > 0 && (
            <AddressBook recipients={recipients} picked={draft.picked} onPick={(picked) => onChange({ picked })} />
          )}
          <div className="grid gap-1.5">
            <label htmlFor={id} className="font-semibold">
              {recipients.length > 0 ? 'Other addresses' : 'Addresses'}
            </label>
            <textarea
              id={id}
              rows={3}
              value={draft.pasted}
              spellCheck={false}
              autoCapitalize="none"
              aria-describedby={`${id}-hint${error === undefined ? '' : ` ${id}-error`}`}
              aria-invalid={error === undefined ? undefined : true}
              className={`${FIELD_CLASS} font-mono text-sm`}
              onChange={(event) => onChange({ pasted: event.currentTarget.value })}
            />
            {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
            <p id={`${id}-hint`} className="text-sm text-muted">
              One address per line. At most {GRANT_RECIPIENTS_MAX} recipients in total.
            </p>
          </div>
        </div>
      )}
    </div>
  )
}

interface AddressBookProps {
  readonly recipients: readonly Recipient[]
  readonly picked: readonly string[]
  readonly onPick: (picked: readonly string[]) => void
}

function AddressBook({ recipients, picked, onPick }: AddressBookProps) {
  const chosen = new Set(picked.map((address) => address.toLowerCase()))
  const pick = (address: string, isPicked: boolean) => {
    const others = picked.filter((other) => other.toLowerCase() !== address.toLowerCase())
    onPick(isPicked ? [...others, address] : others)
  }
  return (
    <fieldset className="grid min-w-0 gap-1.5">
      <legend className="mb-1.5 font-semibold">From your address book</legend>
      <div className="max-h-64 divide-y divide-line overflow-y-auto rounded-lg border border-edge bg-surface">
        {recipients.map(({ address, label }) => (
          <label
            key={address}
            className="flex min-h-11 cursor-pointer items-center gap-3 px-3 py-2 hover:bg-sunken has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="checkbox"
              checked={chosen.has(address.toLowerCase())}
              className="size-4 shrink-0 accent-accent outline-none"
              onChange={(event) => pick(address, event.currentTarget.checked)}
            />
            <bdi className="min-w-0 flex-1">{label}</bdi>
            <code className="font-mono text-[0.8125rem] text-muted" title={address}>
              {formatShortAddress(address)}
            </code>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
