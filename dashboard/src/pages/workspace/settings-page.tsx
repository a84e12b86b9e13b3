import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { ChainInfo } from '@bursar/server/src/console/contract/workspaces.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { workspaceQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { sessionQuery } from '../../api/session.ts'
import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RenameDialog } from '../../components/name-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { ROLE_TEXTS } from '../../format/roles.ts'
import { PLAN_TITLES } from './plan-table.tsx'
import { useWorkspace } from './use-workspace.ts'

export function SettingsPage() {
  const { slug, name, role, to } = useWorkspace()
  const { data: workspace, error, refetch } = useQuery(workspaceQuery(slug))
  const client = useQueryClient()
  const rename = async (text: string) => {
    await request('PATCH /console/workspaces/:slug', { params: { slug }, body: { name: text } })
    await client.invalidateQueries({ queryKey: workspaceQuery(slug).queryKey })
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return (
    <>
      <PageHeading title="Settings" breadcrumb={name} />
      <Section title="Name">
        <List>
          <ListItem
            actions={
              may(role, 'manageWorkspace') && (
                <RenameDialog name={name} onRename={rename}>
                  Members, invitations and consent pages show the new name. The short name in links stays the same.
                </RenameDialog>
              )
            }
          >
            <p className="font-semibold">
              <bdi>{name}</bdi>
            </p>
            {!may(role, 'manageWorkspace') && <p className="text-sm text-muted">An owner can rename the workspace.</p>}
          </ListItem>
        </List>
      </Section>
      {workspace === undefined ? (
        <QueryState error={error} onRetry={refetch} lines={6} />
      ) : (
        <>
          <Section title="About this workspace">
            <DescriptionList>
              <DescriptionItem term="Short name">
                <CodeText text={slug} what="the short name" />
                <p className="text-sm text-muted">
                  It is part of every link to this workspace, so it can’t be changed.
                </p>
              </DescriptionItem>
              <DescriptionItem term="API address">
                <CodeText text={workspace.base_url} what="the API address" />
              </DescriptionItem>
              <DescriptionItem term="Plan">
                <TextLink to={to('plan')}>{PLAN_TITLES[workspace.plan]}</TextLink>
              </DescriptionItem>
              <DescriptionItem term="Your role">
                {ROLE_TEXTS[role].title}. <TextLink to={to('members')}>Members</TextLink>
              </DescriptionItem>
            </DescriptionList>
          </Section>
          <Section
            title="Blockchains"
            lead="Test mode and live mode use different chains. The server operator sets them."
          >
            <DescriptionList>
              <Chain mode="test" chain={workspace.chains.test} />
              <Chain mode="live" chain={workspace.chains.live} />
            </DescriptionList>
          </Section>
        </>
      )}
    </>
  )
}

function Chain({ mode, chain }: { readonly mode: Mode; readonly chain: ChainInfo }) {
  return (
    <DescriptionItem term={mode === 'test' ? 'Test mode' : 'Live mode'}>
      <p>Chain ID {chain.chain_id}</p>
      <p>
        USDC contract: <CodeText text={chain.usdc} what={`the USDC contract of ${mode} mode`} />
      </p>
    </DescriptionItem>
  )
}
