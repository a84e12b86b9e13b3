/**
 * For how many workspaces a process remembers the creator. It remembers those that were used last. A workspace
 * whose creator is forgotten counts on its own until its next request.
 */
const WORKSPACES_MAX = 10_000

/**
 * Remembers which person created each workspace, so that all workspaces of one person share what a process shares out
 * (D91). A creator never changes.
 */
export class Creators {
  /** The creator of each workspace that has one. The workspace that was used last is at the end. */
  readonly #creators = new Map<string, string>()

  /** `creatorId` is null if the operator created the workspace, which then has a share of its own. */
  remember(workspaceId: string, creatorId: string | null): void {
    if (creatorId === null) return
    this.#creators.delete(workspaceId)
    this.#creators.set(workspaceId, creatorId)
    if (this.#creators.size <= WORKSPACES_MAX) return
    const [oldest] = this.#creators.keys()
    if (oldest !== undefined) this.#creators.delete(oldest)
  }

  /** Returns the person to whom a workspace's share belongs. Any other group, such as a network, belongs to itself. */
  readonly holderOf = (group: string): string => this.#creators.get(group) ?? group
}
