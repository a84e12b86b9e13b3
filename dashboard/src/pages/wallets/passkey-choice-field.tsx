import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { PASSKEY_NAME_HINT } from '../../format/name-hints.ts'
import type { PasskeyChoice } from './passkey-choice.ts'

const NEW = 'new'

interface PasskeyChoiceFieldProps {
  readonly label: string
  readonly choice: PasskeyChoice
}

/** A field to choose a wallet passkey. For a new passkey, the user also enters a name. */
export function PasskeyChoiceField({ label, choice }: PasskeyChoiceFieldProps) {
  const { passkeys, credentialId, newName, choose, setNewName } = choice
  return (
    <>
      {passkeys.length > 0 && (
        <SelectField
          label={label}
          value={credentialId ?? NEW}
          choices={[
            ...passkeys.map(({ credential_id, name }) => ({ value: credential_id, text: name })),
            { value: NEW, text: 'Create a new wallet passkey' },
          ]}
          isRequired
          onChange={(value) => choose(value === NEW ? null : value)}
        />
      )}
      {credentialId === null && (
        <TextField
          name="passkey"
          label="New passkey name"
          hint={PASSKEY_NAME_HINT}
          required
          maxLength={NAME_CHARS_MAX}
          autoComplete="off"
          value={newName}
          onChange={(event) => setNewName(event.currentTarget.value)}
        />
      )}
    </>
  )
}
