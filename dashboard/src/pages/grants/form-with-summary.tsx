import { useEffect, useRef, type ReactNode } from 'react'
import { flushSync } from 'react-dom'

interface FormWithSummaryProps {
  readonly children: ReactNode
  /** What the form says so far, and the button that sends it: in sight while one types, where there is room. */
  readonly summary: ReactNode
  /** Why the server refused what was sent. */
  readonly refusal: unknown
  /** Sends the form, or brings the faults to light. */
  readonly onSubmit: () => void
}

/** A long form beside what it comes to. After a refusal the first faulty field has the focus. */
export function FormWithSummary({ children, summary, refusal, onSubmit }: FormWithSummaryProps) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (refusal !== null) focusFirstError(form.current)
  }, [refusal])
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
