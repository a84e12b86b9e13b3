import { useId } from 'react'
import type { Scope } from '@bursar/server/src/console/contract/connections.ts'
import { CheckIcon } from '../../components/check-icon.tsx'
import { SCOPE_TEXTS } from '../../format/scope-texts.ts'

interface ScopePickerProps {
  readonly asked: readonly Scope[]
  readonly chosen: readonly Scope[]
  readonly onChange: (scopes: readonly Scope[]) => void
}

/** The requested scopes. Each can be turned off except the last one, because allowing nothing means denying. */
export function ScopePicker({ asked, chosen, onChange }: ScopePickerProps) {
  const id = useId()
  const isChoice = asked.length > 1
  return (
    <fieldset aria-describedby={`${id}-note`} className="grid gap-3">
      <legend className="mb-3 text-lg font-bold">What the application can do</legend>
      <div className="grid gap-1">
        {asked.map((scope) => {
          const isOn = chosen.includes(scope)
          const isLast = isOn && chosen.length === 1
          return (
            <div key={scope} className="-mx-2 grid grid-cols-[auto_1fr] gap-x-3 rounded-lg px-2 py-2.5">
              {isChoice ? (
                <>
                  <input
                    id={`${id}-${scope}`}
                    type="checkbox"
                    checked={isOn}
                    // Not `disabled`: the browser would grey it out, as if it were not granted.
                    aria-disabled={isLast}
                    aria-describedby={`${id}-${scope}-meaning`}
                    className="mt-0.5 size-5 accent-accent aria-disabled:cursor-not-allowed"
                    onChange={() => {
                      if (isLast) return
                      onChange(asked.filter((other) => chosen.includes(other) !== (other === scope)))
                    }}
                  />
                  <label htmlFor={`${id}-${scope}`} className="font-semibold">
                    {SCOPE_TEXTS[scope].title}
                  </label>
                </>
              ) : (
                <>
                  <CheckIcon className="mt-0.5 size-5 text-accent" />
                  <p className="font-semibold">{SCOPE_TEXTS[scope].title}</p>
                </>
              )}
              <p id={`${id}-${scope}-meaning`} className="col-start-2 text-muted">
                {SCOPE_TEXTS[scope].meaning}
              </p>
            </div>
          )
        })}
      </div>
      <p id={`${id}-note`} className="text-sm text-muted">
        {isChoice
          ? 'Turn off what the application doesn’t need. At least one must stay on. To allow nothing, deny the request.'
          : 'This is all the application asks for. To allow nothing, deny the request.'}
      </p>
    </fieldset>
  )
}
