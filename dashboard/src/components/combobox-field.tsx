import { Combobox } from '@base-ui/react/combobox'
import { useId } from 'react'
import { ChevronIcon } from './chevron-icon.tsx'
import { FieldError } from './field-error.tsx'
import type { Choice, SelectFieldProps } from './select-field-props.ts'
import { FIELD_CLASS } from './text-field.tsx'

/** At most this many matches are listed. The user can type more to get fewer matches. */
const MATCHES_MAX = 100

/** A field to pick one of many choices. Typing filters the list. */
export function ComboboxField(props: SelectFieldProps) {
  const { label, value, choices, placeholder, hint, isLabelHidden = false, isRequired = false, error, onChange } = props
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].join(' ').trim()
  const emptyChoice = choices.find((choice) => choice.value === '')
  const chosen = choices.find((choice) => choice.value === value && value !== '') ?? null
  return (
    <Combobox.Root
      items={choices.filter((choice) => choice !== emptyChoice)}
      limit={MATCHES_MAX}
      value={chosen}
      required={isRequired}
      autoHighlight
      itemToStringLabel={(choice: Choice) => choice.text}
      isItemEqualToValue={(one: Choice, other: Choice) => one.value === other.value}
      onValueChange={(choice: Choice | null) => onChange(choice?.value ?? '')}
    >
      <div className="grid min-w-0 grid-cols-1 gap-1.5">
        <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'font-semibold'}>
          {label}
        </label>
        <Combobox.InputGroup className="relative">
          <Combobox.Input
            id={id}
            placeholder={placeholder ?? emptyChoice?.text}
            autoCapitalize="none"
            spellCheck={false}
            aria-describedby={described === '' ? undefined : described}
            aria-invalid={error === undefined ? undefined : true}
            className={`${FIELD_CLASS} truncate pr-10`}
            onFocus={(event) => event.currentTarget.select()}
          />
          <Combobox.Trigger
            tabIndex={-1}
            aria-label={`Show choices for ${label}`}
            className="absolute inset-y-0 right-0 flex w-10 items-center justify-center text-muted"
          >
            <ChevronIcon className="size-3" />
          </Combobox.Trigger>
        </Combobox.InputGroup>
        {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )}
      </div>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4} className="z-20 outline-none">
          <Combobox.Popup className="w-(--anchor-width) max-w-(--available-width) overflow-hidden rounded-lg border border-line bg-surface text-ink shadow-lift">
            <Combobox.Empty className="px-3 py-2 text-muted empty:hidden">No results.</Combobox.Empty>
            <Combobox.List className="max-h-[min(20rem,var(--available-height))] overflow-y-auto p-1 outline-none data-empty:hidden">
              {(choice: Choice) => (
                <Combobox.Item
                  key={choice.value}
                  value={choice}
                  className="cursor-pointer rounded-md px-2 py-2 wrap-anywhere data-highlighted:bg-accent-soft data-selected:font-semibold"
                >
                  {choice.text}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
