import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { labelOf } from '../../format/label-of.ts'
import type { GrantChanges } from '../../format/grant-changes.ts'

interface ChangesListProps {
  readonly changes: GrantChanges
  readonly recipients: readonly Recipient[]
}

/** The old and new value of each changed term. */
export function ChangesList({ changes, recipients }: ChangesListProps) {
  const { terms, added, removed } = changes
  if (terms.length === 0) return <p className="text-muted">The terms stay the same.</p>
  return (
    <div className="@container">
      <dl className="grid gap-x-8 gap-y-3 @lg:grid-cols-[repeat(auto-fit,minmax(12rem,auto))] @lg:justify-start">
        {terms.map(({ name, before, after }) => (
          <div key={name}>
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="tabular-nums">
              <span className="sr-only">from </span>
              <del className="text-muted">{before}</del>
              <span aria-hidden="true" className="px-2 text-muted">
                →
              </span>
              <span className="sr-only"> to </span>
              <ins className="font-semibold no-underline">{after}</ins>
            </dd>
          </div>
        ))}
        <Addresses name="Added recipients" addresses={added} recipients={recipients} />
        <Addresses name="Removed recipients" addresses={removed} recipients={recipients} />
      </dl>
    </div>
  )
}

interface AddressesProps {
  readonly name: string
  readonly addresses: readonly string[]
  readonly recipients: readonly Recipient[]
}

function Addresses({ name, addresses, recipients }: AddressesProps) {
  if (addresses.length === 0) return null
  return (
    <div className="col-span-full">
      <dt className="text-sm text-muted">{name}</dt>
      {addresses.map((address) => (
        <dd key={address}>
          <bdi>{labelOf(recipients, address)}</bdi>{' '}
          <code className="font-mono text-[0.8125rem] break-all">{address}</code>
        </dd>
      ))}
    </div>
  )
}
