import { Fragment } from 'react'

/** A host name. A long host name wraps after a dot where possible. */
export function HostText({ host }: { readonly host: string }) {
  return (
    <bdi>
      {host.split('.').map((label, index) => (
        // The labels of a host name are never reordered, so the index is a stable key.
        <Fragment key={`${index} ${label}`}>
          {index > 0 && '.'}
          {index > 0 && <wbr />}
          {label}
        </Fragment>
      ))}
    </bdi>
  )
}
