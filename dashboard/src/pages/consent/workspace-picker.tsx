import { useId } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { useSession } from '../../components/session-context.ts'
import { ROLE_TEXTS } from '../../format/roles.ts'
import { formatWorkspaceName } from './choose-agent.ts'

interface WorkspacePickerProps {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly onWorkspace: (slug: string) => void
  readonly onMode: (mode: Mode) => void
}

const MODES = [
  { mode: 'test', title: 'Test', meaning: 'test money' },
  { mode: 'live', title: 'Live', meaning: 'real money' },
] as const

export function WorkspacePicker({ workspace, mode, onWorkspace, onMode }: WorkspacePickerProps) {
  const { workspaces } = useSession()
  const name = useId()
  return (
    <Section title="Workspace and mode">
      <SelectField
        label="Workspace"
        value={workspace.slug}
        choices={workspaces.map((choice) => ({
          value: choice.slug,
          text: `${formatWorkspaceName(workspaces, choice)} (${ROLE_TEXTS[choice.role].title.toLowerCase()})`,
        }))}
        onChange={onWorkspace}
      />
      <fieldset>
        <legend className="mb-1.5 font-semibold">Mode</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          {MODES.map((choice) => (
            <label
              key={choice.mode}
              className={`flex min-h-12 cursor-pointer items-center gap-3 rounded-lg border border-edge bg-surface px-3 py-2 has-checked:border-2 has-checked:px-[calc(var(--spacing)*3-1px)] has-checked:py-[calc(var(--spacing)*2-1px)] has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${
                choice.mode === 'live'
                  ? 'has-checked:border-warning has-checked:bg-warning-soft has-checked:text-warning'
                  : 'has-checked:border-accent has-checked:bg-accent-soft'
              }`}
            >
              <input
                type="radio"
                name={name}
                value={choice.mode}
                checked={mode === choice.mode}
                className={`size-5 shrink-0 outline-none ${choice.mode === 'live' ? 'accent-warning' : 'accent-accent'}`}
                onChange={() => onMode(choice.mode)}
              />
              <span>
                <strong>{choice.title}</strong>: {choice.meaning}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </Section>
  )
}
