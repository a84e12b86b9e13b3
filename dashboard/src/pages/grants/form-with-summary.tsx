import { useEffect, useRef, type ReactNode } from 'react'
import { flushSync } from 'react-dom'

interface FormWithSummaryProps {
  readonly children: ReactNode
  /** A summary of the input, and the submit button. Stays visible while the user types, if there is room. */
  readonly summary: ReactNode
  /** The error of the last submission. */
  readonly error: unknown
  /** Submits the form, or shows its errors. */
  readonly onSubmit: () => void
}

/** A long form next to a summary. After an error, focuses the first invalid field. */
export function FormWithSummary({ children, summary, error, onSubmit }: FormWithSummaryProps) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error !== null) focusFirstError(form.current)
  }, [error])
  return (
    <form
      ref={form}
      noValidate
      className="grid items-start gap-8 xl:grid-cols-[minmax(0,36rem)_minmax(20rem,1fr)] xl:gap-12"
      onSubmit={(event) => {
        event.preventDefault()
        flushSync(onSubmit)
        focusFirstError(form.current)
      }}
    >
      <div className="grid min-w-0 gap-6">{children}</div>
      <div className="grid min-w-0 gap-4 rounded-xl border border-line bg-surface p-5 sm:p-6 xl:sticky xl:top-20">
        {summary}
      </div>
    </form>
  )
}

function focusFirstError(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
}
