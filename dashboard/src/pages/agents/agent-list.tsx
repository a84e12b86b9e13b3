import { useState } from 'react'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import { EmptyList } from '../../components/list.tsx'
import { TextField } from '../../components/text-field.tsx'
import { AgentTable } from './agent-table.tsx'

/** A list with more agents than this has a filter field. */
const UNFILTERED_MAX = 20

/** The agents, with a filter by ID if there are many. */
export function AgentList({ agents }: { readonly agents: readonly Agent[] }) {
  const [text, setText] = useState('')
  if (agents.length <= UNFILTERED_MAX) return <AgentTable agents={agents} />
  const wanted = text.trim().toLowerCase()
  const found = agents.filter(({ id }) => id.toLowerCase().includes(wanted))
  return (
    <div className="grid grid-cols-1 gap-4">
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2">
        <div className="w-full max-w-sm">
          <TextField
            name="filter"
            type="search"
            label="Find an agent"
            placeholder="Part of its ID"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <p role="status" className="text-sm text-muted">
          {wanted === '' ? `${agents.length} agents` : `${found.length} of ${agents.length} agents`}
        </p>
      </div>
      {found.length > 0 ? <AgentTable agents={found} /> : <EmptyList>No agent ID contains “{text.trim()}”.</EmptyList>}
    </div>
  )
}
