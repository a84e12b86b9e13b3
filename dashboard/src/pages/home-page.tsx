import { Link, useNavigate } from 'react-router'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { Section } from '../components/section.tsx'
import { useSession } from '../components/session-context.ts'
import { readLastSlug } from '../navigation/last-visit.ts'
import { ROLE_TEXTS } from '../format/roles.ts'
import { CreateWorkspaceForm } from './create-workspace-form.tsx'
import { MovedNotice } from './moved-notice.tsx'

export function HomePage() {
  const { workspaces } = useSession()
  const navigate = useNavigate()
  const isNew = workspaces.length === 0
  const last = readLastSlug()
  return (
    <>
      <PageHeading
        title="Your workspaces"
        lead="Each workspace has its own agents, wallets, keys and members. Nothing is shared between workspaces."
      />
      {last !== null && !workspaces.some(({ slug }) => slug === last) && <MovedNotice slug={last} />}
      {isNew ? (
        <EmptyState title="You don’t have a workspace yet">
          Create one below, or ask a workspace owner or admin for an invitation link.
        </EmptyState>
      ) : (
        <ul className="grid grid-cols-1 gap-4 sm:grid-cols-2">
          {workspaces.map((workspace) => (
            <WorkspaceCard key={workspace.slug} workspace={workspace} />
          ))}
        </ul>
      )}
      <Section title="Create a workspace">
        <div className="max-w-md">
          <CreateWorkspaceForm
            variant={isNew ? 'primary' : 'plain'}
            onCreated={({ slug }) => void navigate(pathOf(slug))}
          />
        </div>
      </Section>
    </>
  )
}

function WorkspaceCard({ workspace: { slug, name, role } }: { readonly workspace: Workspace }) {
  return (
    <li className="relative flex min-w-0 items-center gap-4 rounded-xl border border-line bg-surface p-4 hover:border-edge hover:bg-sunken has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
      <span
        aria-hidden="true"
        className="grid size-11 shrink-0 place-items-center rounded-lg bg-accent-soft text-lg font-bold text-accent uppercase"
      >
        {Array.from(name)[0]}
      </span>
      <span className="min-w-0 flex-1">
        <Link
          to={pathOf(slug)}
          title={name}
          className="block truncate font-bold outline-none after:absolute after:inset-0"
        >
          {name}
        </Link>
        <span className="block truncate text-sm text-muted">{slug}</span>
      </span>
      <span className="text-sm text-muted">{ROLE_TEXTS[role].title}</span>
    </li>
  )
}

function pathOf(slug: string): string {
  return `/w/${encodeURIComponent(slug)}`
}
