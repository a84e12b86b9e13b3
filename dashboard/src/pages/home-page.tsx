import { useNavigate } from 'react-router'
import { PageHeading } from '../components/page-heading.tsx'
import { NoRows, Row, Rows } from '../components/rows.tsx'
import { Section } from '../components/section.tsx'
import { useSession } from '../components/session-context.ts'
import { TextLink } from '../components/text-link.tsx'
import { ROLE_TEXTS } from '../roles.ts'
import { CreateWorkspaceForm } from './create-workspace-form.tsx'

export function HomePage() {
  const { workspaces } = useSession()
  const navigate = useNavigate()
  return (
    <>
      <PageHeading title="Your workspaces" />
      {workspaces.length === 0 ? (
        <NoRows>You belong to no workspace yet. Create one, or ask for an invitation to one.</NoRows>
      ) : (
        <Rows>
          {workspaces.map(({ slug, name, role }) => (
            <Row key={slug} actions={<span className="text-muted">{ROLE_TEXTS[role].title}</span>}>
              <TextLink to={`/w/${encodeURIComponent(slug)}`}>{name}</TextLink>
              <p className="text-sm text-muted">{slug}</p>
            </Row>
          ))}
        </Rows>
      )}
      <Section title="Create a workspace">
        <div className="max-w-md">
          <CreateWorkspaceForm
            look={workspaces.length === 0 ? 'primary' : 'plain'}
            onCreated={({ slug }) => void navigate(`/w/${encodeURIComponent(slug)}`)}
          />
        </div>
      </Section>
    </>
  )
}
