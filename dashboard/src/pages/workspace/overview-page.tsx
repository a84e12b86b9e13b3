import { PageHeading } from '../../components/page-heading.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { ROLE_TEXTS } from '../../roles.ts'
import { useWorkspace } from './workspace-context.ts'

const PARTS = [
  {
    path: 'connections',
    title: 'Connections',
    text: 'The applications that act for this workspace, and how to end it.',
  },
  { path: 'members', title: 'Members', text: 'Who belongs here, in which role, and who is invited.' },
  { path: 'audit', title: 'Audit log', text: 'Who did what, and when. Nothing is ever taken out of it.' },
] as const

export function OverviewPage() {
  const { slug, name, role } = useWorkspace()
  const { title, meaning } = ROLE_TEXTS[role]
  return (
    <>
      <PageHeading title={name} lead={`Your role: ${title.toLowerCase()} (${meaning}).`} />
      <Rows>
        {PARTS.map((part) => (
          <Row key={part.path}>
            <TextLink to={`/w/${encodeURIComponent(slug)}/${part.path}`}>{part.title}</TextLink>
            <p className="text-muted">{part.text}</p>
          </Row>
        ))}
      </Rows>
    </>
  )
}
