import { useId, useState, type ReactNode } from 'react'
import { TextField } from './text-field.tsx'

interface Choice {
  readonly value: string
  readonly text: string
}

export interface SelectFieldProps {
  readonly label: string
  readonly value: string
  readonly choices: readonly Choice[]
  /** Shown, and not to be picked, while `value` is empty. */
  readonly placeholder?: string
  readonly hint?: ReactNode
  /** The label is for readers of the screen only. */
  readonly isLabelHidden?: boolean
  /** The form is not sent while nothing is picked. */
  readonly isRequired?: boolean
  /** What is wrong with what is picked. */
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}

/** A choice of very many: typing narrows what the browser offers. */
export function ComboboxField(props: SelectFieldProps) {
  const { label, value, choices, placeholder, hint, isRequired = false, error, onChange } = props
  const id = useId()
  /** What is being typed; null while the field says what is chosen. */
  const [typed, setTyped] = useState<string | null>(null)
  // Where nothing need be chosen, the empty choice says what that means.
  const none = choices.find((choice) => choice.value === '')?.text
  const chosen = value === '' ? '' : (choices.find((choice) => choice.value === value)?.text ?? value)
  const [isStray, setStray] = useState(false)
  const type = (text: string) => {
    setStray(false)
    const found = choices.find((choice) => choice.value !== '' && choice.text === text)
    setTyped(found === undefined ? text : null)
    if (found !== undefined) onChange(found.value)
    // Where one must be chosen, half a name is none: what was chosen before no longer stands in the field.
    else if (text === '' || none === undefined) onChange('')
  }
  return (
    <>
      <TextField
        name={id}
        label={label}
        hint={hint}
        list={`${id}-choices`}
        required={isRequired}
        placeholder={placeholder ?? none}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={typed ?? chosen}
        error={isStray ? 'Pick one from the list.' : error}
        onChange={(event) => type(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => setStray(typed !== null && typed !== '')}
      />
      <datalist id={`${id}-choices`}>
        {choices
          .filter((choice) => choice.value !== '')
          .map((choice) => (
            <option key={choice.value}>{choice.text}</option>
          ))}
      </datalist>
    </>
  )
}
