import { SCOPE_DESCRIPTIONS, SCOPES } from '@bursar/server/src/values/scope.ts'
import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { Scope } from '@bursar/server/src/console/contract/connections.ts'
import type { KeyTerms } from '@bursar/server/src/console/contract/keys.ts'
import { agentsQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { CheckIcon } from '../../components/check-icon.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useAction } from '../../components/use-action.ts'
import { useCancel } from '../../components/use-cancel.ts'
import { formatAgentChoice } from '../../format/agent-state-text.ts'
import { READ_SCOPE, SCOPE_TEXTS } from '../../format/scope-texts.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface KeyFormProps {
  readonly onSubmit: (terms: KeyTerms) => Promise<unknown>
  readonly onCancel: () => void
}

/** The form that creates a key: its name, and optionally the one agent and the scopes to which it is limited. */
export function KeyForm({ onSubmit, onCancel }: KeyFormProps) {
  const { slug, mode } = useWorkspace()
  const { data: agents, error, refetch } = useQuery(agentsQuery(slug, mode))
  const cancel = useCancel(onCancel)
  const [agentId, setAgentId] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(SCOPES)
  const action = useAction({ mutationFn: onSubmit })
  // Without the loaded agents, the user could not choose one, and would create a key for all agents.
  if (agents === undefined) return <QueryState error={error} onRetry={refetch} lines={4} />
  return (
    <form
      className="grid max-w-2xl gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        const name = readFormText(event.currentTarget, 'name')
        if (name === '' || action.isPending) return
        action.mutate({
          name,
          ...(agentId === '' ? {} : { agent_id: agentId }),
          ...(scopes.length === SCOPES.length ? {} : { scopes: [...scopes] }),
        })
      }}
    >
      <TextField
        name="name"
        label="Key name"
        hint="Where the key will be used, such as “Shop backend” or “Ada’s laptop”."
        required
        maxLength={NAME_CHARS_MAX}
        autoComplete="off"
        autoCapitalize="sentences"
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          cancel()
        }}
      />
      <SelectField
        label="Agent"
        value={agentId}
        choices={[
          { value: '', text: 'All agents' },
          ...agents.map((agent) => ({ value: agent.id, text: formatAgentChoice(agent) })),
        ]}
        hint={
          agentId === ''
            ? 'If your program acts as one agent, choose it. The key then can’t pay as any other agent.'
            : 'The key can pay as this agent only, and can’t create agents. It can still read the other agents’ data.'
        }
        onChange={setAgentId}
      />
      <ScopeChecks chosen={scopes} onChange={setScopes} />
      <ErrorNotice error={action.error} />
      <p className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" isBusy={action.isPending}>
          Create key
        </Button>
        <Button variant="quiet" onClick={cancel}>
          {action.isPending ? 'Close' : 'Cancel'}
        </Button>
      </p>
    </form>
  )
}

interface ScopeChecksProps {
  readonly chosen: readonly Scope[]
  readonly onChange: (scopes: readonly Scope[]) => void
}

function ScopeChecks({ chosen, onChange }: ScopeChecksProps) {
  const id = useId()
  return (
    <fieldset className="grid gap-2" aria-describedby={`${id}-note`}>
      <legend className="pb-1.5 font-semibold">What the key can do</legend>
      <div className="divide-y divide-line rounded-xl border border-line bg-surface">
        <div className="flex min-h-11 items-start gap-3 px-4 py-2.5">
          <CheckIcon className="mt-1 size-4.5 shrink-0 text-accent" />
          <div className="grid gap-0.5">
            <span className="font-semibold">{SCOPE_TEXTS[READ_SCOPE].title}</span>
            <span className="text-sm text-muted">Always included. {SCOPE_DESCRIPTIONS[READ_SCOPE]}</span>
          </div>
        </div>
        {SCOPES.filter((scope) => scope !== READ_SCOPE).map((scope) => (
          <div key={scope} className="relative flex min-h-11 items-start gap-3 px-4 py-2.5 hover:bg-sunken">
            <input
              id={`${id}-${scope}`}
              type="checkbox"
              className="relative z-1 mt-1 size-4.5 shrink-0 accent-accent"
              aria-describedby={`${id}-${scope}-meaning`}
              checked={chosen.includes(scope)}
              onChange={(event) => {
                const isOn = event.currentTarget.checked
                onChange(SCOPES.filter((other) => (other === scope ? isOn : chosen.includes(other))))
              }}
            />
            <div className="grid gap-0.5">
              <label htmlFor={`${id}-${scope}`} className="font-semibold after:absolute after:inset-0">
                {SCOPE_TEXTS[scope].title}
              </label>
              <span id={`${id}-${scope}-meaning`} className="text-sm text-muted">
                {SCOPE_DESCRIPTIONS[scope]}
              </span>
            </div>
          </div>
        ))}
      </div>
      <p id={`${id}-note`} className="text-sm text-muted">
        Every key can read, so reading is always included. Turn off what your program doesn’t need. To create agents, a
        program needs a key that is for all agents and has every permission turned on.
      </p>
    </fieldset>
  )
}
