import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import type { Role } from '../../server/src/values/role.ts'
import { seedWorkspace } from '../support/context/connection-rows.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import type { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

/** A person who is signed in to the dashboard, and their workspace. */
export interface ConsoleFixture {
  readonly workspace: Workspace
  readonly browser: Browser
  readonly userId: string
  readonly passkey: SoftwarePasskey
  /** Returns the path of one of the workspace's endpoints. */
  at(path: string): string
}

/** Signs up a new person, and makes them a member of the given workspace, or of a new one. */
export async function openConsoleFixture(
  server: ConsoleServer,
  { role = 'owner', workspace: given, name }: { role?: Role; workspace?: Workspace; name?: string } = {},
): Promise<ConsoleFixture> {
  const { browser, userId, passkey } = await openVisitor(server, name)
  const workspace = given ?? (await seedWorkspace(server.context))
  await addMember(server.context, { workspace, userId, role, actor: OPERATOR })
  const at = (path: string) => `/console/workspaces/${workspace.slug}${path === '' ? '' : `/${path}`}`
  return { workspace, browser, userId, passkey, at }
}
