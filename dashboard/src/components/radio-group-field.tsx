import { useId } from 'react'

interface RadioGroupFieldProps {
  readonly label: string
  readonly value: string
  readonly choices: readonly { readonly value: string; readonly text: string }[]
  readonly onChange: (value: string) => void
}

/** A group of radio buttons, shown as a segmented control. For a few choices. */
export function RadioGroupField({ label, value, choices, onChange }: RadioGroupFieldProps) {
  const name = useId()
  return (
    <fieldset className="grid min-w-0 gap-1.5">
      <legend className="mb-1.5 font-semibold">{label}</legend>
      <div className="inline-flex w-fit max-w-full flex-wrap gap-0.5 rounded-lg border border-edge bg-sunken p-0.5">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="flex min-h-10 cursor-pointer items-center rounded-md border border-transparent px-3.5 text-[0.9375rem] text-muted hover:text-ink has-checked:border-edge has-checked:bg-surface has-checked:font-semibold has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              className="sr-only"
              onChange={() => onChange(choice.value)}
            />
            {choice.text}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
