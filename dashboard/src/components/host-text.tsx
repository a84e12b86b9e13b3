import { Fragment } from 'react'

/** A host name. Long ones wrap after a dot where possible. */
export function HostText({ host }: { readonly host: string }) {
  return (
    <bdi>
      {host.split('.').map((label, index) => (
        // The labels are never reordered, so the index is a stable key.
        <Fragment key={`${index} ${label}`}>
          {index > 0 && '.'}
          {index > 0 && <wbr />}
          {label}
        </Fragment>
      ))}
    </bdi>
  )
}
