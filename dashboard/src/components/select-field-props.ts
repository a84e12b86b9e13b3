import type { ReactNode } from 'react'

export interface Choice {
  readonly value: string
  readonly text: string
}

/** The props that a select and a combobox have in common. */
export interface SelectFieldProps {
  readonly label: string
  readonly value: string
  /** A choice with an empty value stands for "no choice", such as "All" in a filter. */
  readonly choices: readonly Choice[]
  /** The text that is shown while `value` is empty. It cannot be picked. */
  readonly placeholder?: string
  readonly hint?: ReactNode
  /** Whether the label is hidden on the screen. Screen readers still read it. */
  readonly isLabelHidden?: boolean
  /** Whether the user must choose before the form can be submitted. */
  readonly isRequired?: boolean
  /** The error message for the current choice. */
  readonly error?: string | undefined
  readonly onChange: (value: string) => void
}
