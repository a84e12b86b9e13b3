import { useEffect, useEffectEvent, useRef, type ComponentProps } from 'react'
import { TextField } from '../../components/text-field.tsx'

interface TypedFieldProps extends Omit<
  ComponentProps<typeof TextField>,
  'defaultValue' | 'value' | 'onChange' | 'onSubmit'
> {
  /** The value in the URL. */
  readonly value: string
  readonly onChange: (value: string) => void
  /** Whether the form is a search, which is a landmark of the page. */
  readonly isSearch?: boolean
}

const TYPING_PAUSE_MS = 350

/** A field whose value takes effect when the user stops typing or presses Enter. */
export function TypedField({ value, onChange, isSearch = false, ...field }: TypedFieldProps) {
  const form = useRef<HTMLFormElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const { name } = field
  const stop = () => {
    if (timer.current !== null) clearTimeout(timer.current)
    timer.current = null
  }
  const show = useEffectEvent((text: string) => {
    const input = form.current?.elements.namedItem(name)
    // While the user types, the text in the field is newer than the text in the URL, so it is kept.
    if (input instanceof HTMLInputElement && timer.current === null && input.value.trim() !== text) input.value = text
  })
  useEffect(() => show(value), [value])
  const end = useEffectEvent(() => stop())
  useEffect(() => () => end(), [])

  const apply = (text: string) => {
    stop()
    onChange(text.trim())
  }
  return (
    <form
      ref={form}
      role={isSearch ? 'search' : undefined}
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get(name)
        if (typeof text === 'string') apply(text)
      }}
    >
      <TextField
        {...field}
        autoComplete="off"
        spellCheck={false}
        defaultValue={value}
        onChange={(event) => {
          const text = event.currentTarget.value
          stop()
          timer.current = setTimeout(() => apply(text), TYPING_PAUSE_MS)
        }}
      />
    </form>
  )
}
