import { useId, type ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'
import { FIELD_CLASS } from './text-field.tsx'

interface OneTimeSecretProps {
  readonly label: string
  readonly secret: string
  /** What is copied, such as "the key" in the label "Copy the key". */
  readonly what: string
  readonly children?: ReactNode
}

/** A secret that is shown only once. */
export function OneTimeSecret({ label, secret, what, children }: OneTimeSecretProps) {
  const id = useId()
  return (
    <div className="grid gap-2 rounded-xl border border-warning-line bg-warning-soft p-4 text-warning">
      <label htmlFor={id} className="font-semibold">
        {label}
      </label>
      <div className="flex flex-wrap gap-3">
        <input
          id={id}
          readOnly
          value={secret}
          spellCheck={false}
          className={`${FIELD_CLASS} flex-1 basis-64 font-mono text-sm`}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton text={secret} what={what} />
      </div>
      <p className="text-sm">This secret is shown only once. Store it where only your program can read it.</p>
      {children}
    </div>
  )
}
