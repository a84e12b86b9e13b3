import { useId } from 'react'
import type { Scope } from '../../api/wire.ts'
import { SCOPE_TEXTS } from '../../format/scope-text.ts'

interface ScopePickerProps {
  readonly asked: readonly Scope[]
  readonly chosen: readonly Scope[]
  readonly onChange: (scopes: readonly Scope[]) => void
}

/** What the application asks to be allowed. Each can be switched off but the last: to allow nothing is to deny. */
export function ScopePicker({ asked, chosen, onChange }: ScopePickerProps) {
  const id = useId()
  const isLast = chosen.length === 1
  return (
    <fieldset aria-describedby={`${id}-note`} className="grid gap-3">
      <legend className="mb-3 text-lg font-bold">What it may do</legend>
      <div className="grid gap-1">
        {asked.map((scope) => {
          const isOn = chosen.includes(scope)
          return (
            <div key={scope} className="-mx-2 grid grid-cols-[auto_1fr] gap-x-3 rounded-lg px-2 py-2.5">
              <input
                id={`${id}-${scope}`}
                type="checkbox"
                checked={isOn}
                disabled={isOn && isLast}
                aria-describedby={`${id}-${scope}-meaning`}
                className="mt-0.5 size-5 accent-accent"
                onChange={() => onChange(asked.filter((other) => chosen.includes(other) !== (other === scope)))}
              />
              <label htmlFor={`${id}-${scope}`} className="font-semibold">
                {SCOPE_TEXTS[scope].title}
              </label>
              <p id={`${id}-${scope}-meaning`} className="col-start-2 text-muted">
                {SCOPE_TEXTS[scope].meaning}
              </p>
            </div>
          )
        })}
      </div>
      <p id={`${id}-note`} className="text-sm text-muted">
        {asked.length === 1
          ? 'It asks for this alone. To allow nothing, deny.'
          : 'Switch off what it does not need. One stays on; to allow nothing, deny.'}
      </p>
    </fieldset>
  )
}
