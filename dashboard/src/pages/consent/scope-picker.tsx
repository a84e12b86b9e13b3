import { SCOPE_DESCRIPTIONS } from '@bursar/server/src/values/scope.ts'
import { useId } from 'react'
import type { Scope } from '@bursar/server/src/console/contract/connections.ts'
import { CheckIcon } from '../../components/check-icon.tsx'
import { READ_SCOPE, SCOPE_TEXTS } from '../../format/scope-texts.ts'

interface ScopePickerProps {
  readonly asked: readonly Scope[]
  readonly chosen: readonly Scope[]
  readonly onChange: (scopes: readonly Scope[]) => void
}

/**
 * What the application can do. Every connection can read, so reading is always shown as included, even if the
 * application did not ask for it. The other requested scopes can be turned off. At least one scope must stay on: a user
 * who wants to allow nothing denies the request instead.
 */
export function ScopePicker({ asked, chosen, onChange }: ScopePickerProps) {
  const id = useId()
  const optional = asked.filter((scope) => scope !== READ_SCOPE)
  const isChoice = asked.length > 1
  return (
    <fieldset aria-describedby={`${id}-note`} className="grid gap-3">
      <legend className="mb-3 text-lg font-bold">What the application can do</legend>
      <div className="grid gap-1">
        <div className={ROW}>
          <CheckIcon className="mt-0.5 size-5 text-accent" />
          <p className="font-semibold">{SCOPE_TEXTS[READ_SCOPE].title}</p>
          <p className="col-start-2 text-muted">Always included. {SCOPE_DESCRIPTIONS[READ_SCOPE]}</p>
        </div>
        {optional.map((scope) => {
          const isOn = chosen.includes(scope)
          const isLast = isOn && chosen.length === 1
          return (
            <div key={scope} className={ROW}>
              {isChoice ? (
                <>
                  <input
                    id={`${id}-${scope}`}
                    type="checkbox"
                    checked={isOn}
                    // Not `disabled`: the browser would grey out the checkbox, as if the scope were not granted.
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
                {SCOPE_DESCRIPTIONS[scope]}
              </p>
            </div>
          )
        })}
      </div>
      <p id={`${id}-note`} className="text-sm text-muted">
        Every connection can read. It can pay only as the agent that you choose.{' '}
        {!isChoice && 'This is all the application asks for. '}
        {isChoice && 'Turn off what the application doesn’t need. '}
        {isChoice && !asked.includes(READ_SCOPE) && 'At least one must stay on. '}
        To allow nothing, deny the request.
      </p>
    </fieldset>
  )
}

const ROW = '-mx-2 grid grid-cols-[auto_1fr] gap-x-3 rounded-lg px-2 py-2.5'
